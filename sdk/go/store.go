package secrets

import (
	"os"
	"sync"
)

// Store holds secrets by their names. It is safe for use by several goroutines at once.
//
// A nil *Store is valid: its reads fall back to the environment. The zero Store is a closed one.
type Store struct {
	mu      sync.RWMutex
	region  region
	index   *index // nil unless the store is open
	release func() error
}

// Open maps the descriptor that SVC_SECRET_FD names and closes it; a program does that once. Without the variable,
// and on systems other than Linux, it returns a nil Store and no error. It returns a nil Store and an error when the
// variable is not a descriptor number, or the descriptor is not open, not secret memory or cannot be mapped.
func Open() (*Store, error) {
	return open()
}

// Get returns the value, which points into the protected pages, or the environment's value where the store has no
// such key. Nil store: the environment's value. Closed store: the empty string.
func (s *Store) Get(key string) string {
	if s == nil {
		return os.Getenv(key)
	}
	current := s.current()
	if current == nil {
		return ""
	}
	if value, found := current.values[key]; found {
		return value
	}
	return os.Getenv(key)
}

// MustGet is Get for a secret that must be there: it panics when the value is empty.
func (s *Store) MustGet(key string) string {
	value := s.Get(key)
	if value == "" {
		panic("svc-sdk: secret \"" + key + "\" not found")
	}
	return value
}

// Has tells whether an open store has the key, even if its value is empty. Nil store: whether the environment's value
// is non-empty. Closed store: false.
func (s *Store) Has(key string) bool {
	if s == nil {
		return os.Getenv(key) != ""
	}
	current := s.current()
	if current == nil {
		return false
	}
	_, found := current.values[key]
	return found
}

// Keys returns names in the order of the records, never values. Nil or closed store: nil.
func (s *Store) Keys() []string {
	if s == nil {
		return nil
	}
	current := s.current()
	if current == nil {
		return nil
	}
	return append([]string{}, current.keys...)
}

// Close unmaps the secrets; values read before consist of zero bytes from then on. Repeat calls are harmless, and so
// is closing a nil store.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil {
		return nil
	}
	s.region, s.index = nil, nil
	return s.release()
}

// current returns the index of the generation in force, nil unless the store is open.
func (s *Store) current() *index {
	s.mu.RLock()
	known := s.index
	upToDate := known == nil || known.word == s.region.word()
	s.mu.RUnlock()
	if upToDate {
		return known
	}
	return s.renewed()
}

func (s *Store) renewed() *index {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index != nil && s.index.word != s.region.word() {
		s.index = readIndex(s.region)
	}
	return s.index
}
