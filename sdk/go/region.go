package secrets

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// region is the shared memory: records of KEY=VALUE NUL ended by an empty one, and in the last 8 bytes the switch
// word, a little-endian uint64 that says where the generation in force begins. Low half: its offset, a multiple of 8.
// High half: its number, one more with each rotation. 0 is the first generation, at offset 0.
type region []byte

const (
	wordLength    = 8
	outdatedAfter = 2
)

// generation is a set of records. Its bytes are overwritten by the second generation after it.
type generation struct {
	word   uint64
	number uint32
	start  int
	end    int // exclusive
}

func (r region) hasWord() bool {
	return len(r) > wordLength && len(r)%wordLength == 0
}

// word reads the switch word at once; 0 in a region whose size leaves no aligned word.
func (r region) word() uint64 {
	if !r.hasWord() {
		return 0
	}
	word := atomic.LoadUint64((*uint64)(unsafe.Pointer(&r[len(r)-wordLength])))
	return binary.LittleEndian.Uint64((*[wordLength]byte)(unsafe.Pointer(&word))[:])
}

// current returns the generation in force. Bytes that cannot be a switch word are data of a region without one.
func (r region) current() generation {
	word := r.word()
	number, offset := uint32(word>>32), int64(uint32(word))
	valid := offset%wordLength == 0 && offset < int64(len(r)-wordLength) && (number > 0 || offset == 0)
	if !r.hasWord() || !valid {
		return generation{word: word, end: len(r)}
	}
	return generation{word: word, number: number, start: int(offset), end: len(r) - wordLength}
}

// outdated tells whether the generation's bytes may have been overwritten by now.
func (r region) outdated(g generation) bool {
	word := r.word()
	return word != g.word && int64(word>>32)-int64(g.number) >= outdatedAfter
}

// text returns the bytes from start to end in place.
func (r region) text(start, end int) string {
	if start == end {
		return ""
	}
	return unsafe.String(&r[start], end-start)
}
