package main

import (
	"bytes"
	"crypto/sha256"
	"debug/pe"
	"encoding/binary"
	"errors"
	"os"
	"time"
)

// settle gives a program of Windows the time of its release and an identity that follows from
// the rest of it. The linker takes both from a hash that differs from one link of the same code to
// the next; nothing else does.
func settle(name string, when time.Time) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	times, identity, err := settled(text)
	if err != nil {
		return err
	}
	for _, at := range times {
		binary.LittleEndian.PutUint32(text[at:], uint32(when.Unix()))
	}
	if identity > 0 {
		clear(text[identity : identity+identityBytes])
		sum := sha256.Sum256(text)
		copy(text[identity:identity+identityBytes], sum[:])
	}
	return os.WriteFile(name, text, 0o755)
}

const (
	identityBytes   = 16
	debugDirectory  = 6
	debugEntry      = 28 // bytes of one entry of that directory
	debugOfCodeView = 2
)

// settled are the offsets of the times in a program of Windows, and of its identity, 0 if it has none.
func settled(text []byte) (times []int, identity int, err error) {
	f, err := pe.NewFile(bytes.NewReader(text))
	if err != nil {
		return nil, 0, err
	}
	head, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		return nil, 0, errors.New("no 64-bit program")
	}
	broken := errors.New("its debug directory leads out of the file")
	times = append(times, int(binary.LittleEndian.Uint32(text[0x3c:]))+8)
	at := head.DataDirectory[debugDirectory]
	for _, s := range f.Sections {
		if at.Size == 0 || at.VirtualAddress < s.VirtualAddress || at.VirtualAddress >= s.VirtualAddress+s.Size {
			continue
		}
		from := int(s.Offset + at.VirtualAddress - s.VirtualAddress)
		if from+int(at.Size) > len(text) {
			return nil, 0, broken
		}
		for ; at.Size >= debugEntry; at.Size -= debugEntry {
			times = append(times, from+4)
			if binary.LittleEndian.Uint32(text[from+12:]) == debugOfCodeView {
				raw := int(binary.LittleEndian.Uint32(text[from+24:]))
				if raw+4+identityBytes > len(text) {
					return nil, 0, broken
				}
				if string(text[raw:raw+4]) == "RSDS" {
					identity = raw + 4
				}
			}
			from += debugEntry
		}
	}
	return times, identity, nil
}
