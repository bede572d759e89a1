// Command cilium-policy-check tells whether Cilium takes policies. It reads YAML documents from standard input, each a
// CiliumNetworkPolicy, and answers each with a line of JSON, in their order: what Cilium's own code makes of it when it
// reads it from the API server.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/cilium/cilium/pkg/fqdn/re"
	cilium "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	"github.com/cilium/cilium/pkg/option"
	documents "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var log = slog.New(slog.DiscardHandler)

type answer struct {
	// Why Cilium refuses it; empty where it takes it.
	Error string `json:"error"`
	// Whether the pods that it selects reach nothing else.
	DeniesEgress bool `json:"deniesEgress"`
	// Whether they are reached by nobody.
	DeniesIngress bool `json:"deniesIngress"`
}

func main() {
	// as the agent has them unless it is told otherwise
	option.Config.EnableL7Proxy = true
	option.Config.EnableNonDefaultDenyPolicies = true
	err := re.InitRegexCompileLRU(log, 1)
	if err == nil {
		err = answerAll(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cilium-policy-check:", err)
		os.Exit(1)
	}
}

func answerAll(in io.Reader, out io.Writer) error {
	reader := documents.NewYAMLReader(bufio.NewReader(in))
	encoder := json.NewEncoder(out)
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := encoder.Encode(check(document)); err != nil {
			return err
		}
	}
}

func check(document []byte) answer {
	policy := cilium.CiliumNetworkPolicy{}
	// what Cilium does not know it would pass over
	if err := yaml.UnmarshalStrict(document, &policy); err != nil {
		return answer{Error: err.Error()}
	}
	if policy.APIVersion != "cilium.io/v2" || policy.Kind != cilium.CNPKindDefinition {
		return answer{Error: fmt.Sprintf("no policy of Cilium: %s %s", policy.APIVersion, policy.Kind)}
	}
	rules, err := policy.Parse(log, "default")
	if err != nil {
		return answer{Error: err.Error()}
	}
	result := answer{}
	for _, rule := range rules {
		result.DeniesEgress = result.DeniesEgress || *rule.EnableDefaultDeny.Egress
		result.DeniesIngress = result.DeniesIngress || *rule.EnableDefaultDeny.Ingress
	}
	return result
}
