// Package secrets reads the secrets that svc-wrapper hands to the program that it starts.
//
// They come in memory that the kernel keeps out of its own map (memfd_secret), never in the environment. Open maps
// that memory read-only. The values that a Store gives out point into the mapped pages: none is copied to the heap.
//
//	store, err := secrets.Open()
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer store.Close()
//	password := store.MustGet("DB_PASSWORD")
//
// A program that was not started under the wrapper gets a nil Store, whose reads fall back to the environment.
//
// # How long a value lasts
//
// The wrapper may renew the secrets while the program runs (SVC_ROTATION=sighup). A value then stays as it is until
// the second renewal after it was read; its bytes are zeroed by that one. Read a value when it is needed instead of
// keeping it, or keep a copy (strings.Clone), which lies on the heap.
//
// After Close a value that was read before consists of zero bytes. Reading it never faults.
package secrets
