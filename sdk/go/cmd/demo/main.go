// Command demo serves what a program gets from the secrets SDK: names, the way of delivery, and masked values.
//
// PORT (8080) and HOST (all interfaces) say where. DEMO_KEYS, names separated by commas, are shown besides the
// store's own; without the wrapper they are all that can be listed.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"svc.example/secrets"
)

const (
	exitConfig      = 78
	headerTimeout   = 10 * time.Second
	shutdownTimeout = 5 * time.Second
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitConfig)
	}
}

func run() error {
	store, err := secrets.Open()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	listener, err := listen()
	if err != nil {
		return err
	}
	fmt.Printf("demo: listening on %s, secrets from %s\n", listener.Addr(), delivery(store))
	return serve(listener, handler(store, demoKeys()))
}

func listen() (net.Listener, error) {
	port := "8080"
	if set := os.Getenv("PORT"); set != "" {
		port = set
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("demo: PORT=%q is not a port: use 0 to 65535", port)
	}
	return net.Listen("tcp", net.JoinHostPort(os.Getenv("HOST"), port))
}

func demoKeys() []string {
	var keys []string
	for name := range strings.SplitSeq(os.Getenv("DEMO_KEYS"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			keys = append(keys, name)
		}
	}
	return keys
}

// serve ends at SIGTERM or SIGINT, after the requests that are under way. SIGHUP says that secrets were renewed,
// which the next read sees by itself.
func serve(listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: headerTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	for {
		select {
		case err := <-ended:
			return err
		case received := <-signals:
			if received != syscall.SIGHUP {
				return shutdown(server)
			}
			fmt.Println("demo: secrets were renewed")
		}
	}
}

func shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return server.Close()
	}
	return err
}
