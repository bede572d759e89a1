package main

import (
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// runConnectProxy tunnels whoever sends CONNECT to wherever this machine reaches: a control plane outside of the
// node's network comes to kubelets and to the addresses of Services through it.
func runConnectProxy(arguments []string) {
	flags := flag.NewFlagSet("connect-proxy", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:8132", "address to listen on")
	_ = flags.Parse(arguments)
	server := http.Server{Addr: *listen, Handler: http.HandlerFunc(tunnel), ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.ListenAndServe())
}

func tunnel(response http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodConnect {
		http.Error(response, "only CONNECT", http.StatusMethodNotAllowed)
		return
	}
	there, err := net.DialTimeout("tcp", request.Host, 10*time.Second)
	if err != nil {
		http.Error(response, err.Error(), http.StatusBadGateway)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(response).Hijack()
	if err != nil {
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(there, buffered)
		_ = there.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(here, there)
}
