package secrets

import "testing"

func TestNilStores(t *testing.T) {
	vectors := storesOfVectors(t)
	for _, value := range vectors.NilDescriptors {
		t.Setenv("SVC_SECRET_FD", "")
		if value != nil {
			t.Setenv("SVC_SECRET_FD", *value)
		}
		if store, err := Open(); store != nil || err != nil {
			t.Errorf("Open() = %v, %v, want a nil store", store, err)
		}
	}
	for _, vector := range vectors.Stores {
		if vector.Entries == nil {
			t.Run(vector.Name, func(t *testing.T) { checkNilStore(t, vector) })
		}
	}
}

func checkNilStore(t *testing.T, vector storeVector) {
	t.Setenv("SVC_SECRET_FD", "")
	for name, value := range vector.Environment {
		t.Setenv(name, value)
	}
	store, err := Open()
	if store != nil || err != nil {
		t.Fatalf("Open() = %v, %v, want a nil store", store, err)
	}
	if vector.Closed && store.Close() != nil {
		t.Error("Close of a nil store failed")
	}
	checkCalls(t, store, vector.Calls)
}

func TestZeroStoreIsClosed(t *testing.T) {
	var store Store
	t.Setenv("ANY", "environment")
	if store.Get("ANY") != "" || store.Has("ANY") || store.Keys() != nil || store.Close() != nil {
		t.Error("The zero Store is not a closed one")
	}
}
