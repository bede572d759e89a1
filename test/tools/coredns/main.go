// Command coredns is CoreDNS with the plugins that the names of a cluster need.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	// in the order in which they are asked
	dnsserver.Directives = []string{"errors", "ready", "cache", "hosts", "kubernetes"}
	coremain.Run()
}
