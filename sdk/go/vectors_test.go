package secrets

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// The vectors that the TypeScript SDK runs too.
type storeVector struct {
	Name        string
	Entries     *[][2]string
	Environment map[string]string
	Closed      bool
	Calls       []callVector
}

type callVector struct {
	Call   string
	Key    string
	Want   any
	Panics *string
}

type storeVectors struct {
	Stores             []storeVector
	NilDescriptors     []*string `json:"nil_descriptors"`
	InvalidDescriptors []string  `json:"invalid_descriptors"`
}

func readVectors(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("../../test/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func storesOfVectors(t *testing.T) storeVectors {
	t.Helper()
	var vectors storeVectors
	readVectors(t, "secret-store.json", &vectors)
	return vectors
}

// checkCalls makes the vector's calls on the store.
func checkCalls(t *testing.T, store *Store, calls []callVector) {
	t.Helper()
	for _, call := range calls {
		got, panicked := answer(store, call)
		switch {
		case call.Panics != nil && panicked != *call.Panics:
			t.Errorf("%s(%q) panicked with %v, want %q", call.Call, call.Key, panicked, *call.Panics)
		case call.Panics == nil && panicked != nil:
			t.Errorf("%s(%q) panicked with %v", call.Call, call.Key, panicked)
		case call.Panics == nil && !reflect.DeepEqual(got, call.Want):
			t.Errorf("%s(%q) = %#v, want %#v", call.Call, call.Key, got, call.Want)
		}
	}
}

func answer(store *Store, call callVector) (got, panicked any) {
	defer func() { panicked = recover() }()
	switch call.Call {
	case "get":
		return store.Get(call.Key), nil
	case "mustGet":
		return store.MustGet(call.Key), nil
	case "has":
		return store.Has(call.Key), nil
	case "keys":
		return asJSON(store.Keys()), nil
	}
	panic("no such call: " + call.Call)
}

// asJSON gives a list the form that a decoded one has, nil for a nil one.
func asJSON(list []string) any {
	if list == nil {
		return nil
	}
	converted := make([]any, len(list))
	for i, text := range list {
		converted[i] = text
	}
	return converted
}
