// Command kubernetes-node is what runs beside a Kubernetes control plane, in one binary: the first argument names
// the program to be, and the program gets the rest as if it had been started under that name.
package main

import (
	"context"
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

func main() {
	if len(os.Args) < 2 {
		usage("no program named")
	}
	os.Args = os.Args[1:]
	switch os.Args[0] {
	case "connect-proxy":
		runConnectProxy(os.Args[1:])
	case "kubelet":
		os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background())))
	case "kube-proxy":
		os.Exit(cli.Run(proxy.NewProxyCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		usage("unknown program " + os.Args[0])
	}
}

func usage(mistake string) {
	fmt.Fprintln(os.Stderr, "kubernetes-node: "+mistake+"; known: connect-proxy kubelet kube-proxy kube-scheduler")
	os.Exit(2)
}
