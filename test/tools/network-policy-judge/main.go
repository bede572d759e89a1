// Command network-policy-judge tells which traffic network policies allow, as cyclonus understands them. It reads
// cases from standard input, one JSON value each, and answers each with a line: a 1 for what is allowed and a 0 for
// what is not, of each source to each destination, on each port, by each protocol, the last of them varying fastest.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mattfenwick/cyclonus/pkg/matcher"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

type pod struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

type destination struct {
	Address string `json:"address"`
	// None: a server elsewhere, or an address that Kubernetes made up.
	Pod *pod `json:"pod"`
	// By number and protocol, as 8200/TCP.
	PortNames map[string]string `json:"portNames"`
}

type question struct {
	Policies     []*networking.NetworkPolicy `json:"policies"`
	Sources      []pod                       `json:"sources"`
	Destinations []destination               `json:"destinations"`
	Ports        []int                       `json:"ports"`
	Protocols    []core.Protocol             `json:"protocols"`
}

func main() {
	if err := answerAll(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "network-policy-judge:", err)
		os.Exit(1)
	}
}

func answerAll(in io.Reader, out io.Writer) error {
	decoder := json.NewDecoder(bufio.NewReader(in))
	// a field that is not understood would be left out of the verdict
	decoder.DisallowUnknownFields()
	for {
		var next question
		if err := decoder.Decode(&next); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", answer(next)); err != nil {
			return err
		}
	}
}

func answer(asked question) []byte {
	policy := matcher.BuildNetworkPolicies(false, asked.Policies)
	verdicts := []byte{}
	for _, from := range asked.Sources {
		source := &matcher.TrafficPeer{Internal: internal(&from)}
		for _, to := range asked.Destinations {
			for _, port := range asked.Ports {
				for _, protocol := range asked.Protocols {
					traffic := &matcher.Traffic{
						Source:           source,
						Destination:      &matcher.TrafficPeer{Internal: internal(to.Pod), IP: to.Address},
						ResolvedPort:     port,
						ResolvedPortName: to.PortNames[fmt.Sprintf("%d/%s", port, protocol)],
						Protocol:         protocol,
					}
					verdicts = append(verdicts, verdict(policy, traffic))
				}
			}
		}
	}
	return verdicts
}

func verdict(policy *matcher.Policy, traffic *matcher.Traffic) byte {
	if policy.IsIngressOrEgressAllowed(traffic, false).IsAllowed() {
		return '1'
	}
	return '0'
}

func internal(of *pod) *matcher.InternalPeer {
	if of == nil {
		return nil
	}
	return &matcher.InternalPeer{
		Namespace:       of.Namespace,
		NamespaceLabels: map[string]string{"kubernetes.io/metadata.name": of.Namespace},
		PodLabels:       of.Labels,
	}
}
