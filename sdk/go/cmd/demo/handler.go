package main

import (
	"encoding/json"
	"net/http"
	"slices"

	"svc.example/secrets"
)

type overview struct {
	Keys  []string `json:"keys"`
	Count int      `json:"count"`
}

type health struct {
	Status   string `json:"status"`
	Delivery string `json:"delivery"`
}

type protected struct {
	Secrets []secret `json:"secrets"`
}

type secret struct {
	Key       string `json:"key"`
	Available bool   `json:"available"`
	Value     string `json:"value"`
}

type failure struct {
	Error string `json:"error"`
}

// handler answers from the store as it is at the moment of the request.
func handler(store *secrets.Store, named []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, http.StatusMethodNotAllowed, failure{"method not allowed"})
			return
		}
		switch r.URL.Path {
		case "/":
			answer(w, http.StatusOK, listed(store, named))
		case "/health":
			answer(w, http.StatusOK, health{"ok", delivery(store)})
		case "/protected":
			answer(w, http.StatusOK, masked(store, named))
		default:
			answer(w, http.StatusNotFound, failure{"not found"})
		}
	})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func listed(store *secrets.Store, named []string) overview {
	available := []string{}
	for _, key := range names(store, named) {
		if store.Has(key) {
			available = append(available, key)
		}
	}
	return overview{available, len(available)}
}

func masked(store *secrets.Store, named []string) protected {
	shown := []secret{}
	for _, key := range names(store, named) {
		entry := secret{Key: key, Available: store.Has(key)}
		if entry.Available {
			entry.Value = mask(store.Get(key))
		}
		shown = append(shown, entry)
	}
	return protected{shown}
}

// names returns the store's keys, then those of DEMO_KEYS that it does not have.
func names(store *secrets.Store, named []string) []string {
	keys := store.Keys()
	for _, name := range named {
		if !slices.Contains(keys, name) {
			keys = append(keys, name)
		}
	}
	return keys
}

func delivery(store *secrets.Store) string {
	if store == nil {
		return "env_vars"
	}
	return "memfd_secret"
}
