package main

import (
	"encoding/json"
	"os"
	"testing"
)

func TestMask(t *testing.T) {
	var vectors struct{ Masks [][2]string }
	text, err := os.ReadFile("../../../../test/vectors/secret-store.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Masks) == 0 {
		t.Fatal("no vectors: ", err)
	}
	for _, vector := range vectors.Masks {
		if masked := mask(vector[0]); masked != vector[1] {
			t.Errorf("mask(%q) = %q, want %q", vector[0], masked, vector[1])
		}
	}
}
