package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// windowsProgram is the least that has what linkers change: two times, and an identity.
func windowsProgram(stamp uint32, identity byte, code string) []byte {
	const lfanew, optional, section, data = 0x40, 0x58, 0x148, 0x200
	text := make([]byte, 0x400)
	le := binary.LittleEndian
	copy(text, "MZ")
	le.PutUint32(text[0x3c:], lfanew)
	copy(text[lfanew:], "PE\x00\x00")
	le.PutUint16(text[lfanew+4:], 0x8664)
	le.PutUint16(text[lfanew+6:], 1) // sections
	le.PutUint32(text[lfanew+8:], stamp)
	le.PutUint16(text[lfanew+20:], section-optional)
	le.PutUint16(text[optional:], 0x20b)
	le.PutUint32(text[optional+108:], 16) // directories
	le.PutUint32(text[optional+112+6*8:], 0x1000)
	le.PutUint32(text[optional+112+6*8+4:], debugEntry)
	copy(text[section:], ".buildid")
	le.PutUint32(text[section+8:], 0x200)   // virtual size
	le.PutUint32(text[section+12:], 0x1000) // its address
	le.PutUint32(text[section+16:], 0x200)
	le.PutUint32(text[section+20:], data)
	le.PutUint32(text[data+4:], stamp)
	le.PutUint32(text[data+12:], debugOfCodeView)
	le.PutUint32(text[data+24:], data+debugEntry)
	copy(text[data+debugEntry:], "RSDS"+string(bytes.Repeat([]byte{identity}, identityBytes))+code)
	return text
}

// Two links of the same code are the same bytes, and other code has another identity.
func TestSettle(t *testing.T) {
	when := time.Unix(1_700_000_000, 0)
	settled := func(program []byte) []byte {
		t.Helper()
		file := filepath.Join(t.TempDir(), "quarry.exe")
		if err := os.WriteFile(file, program, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := settle(file, when); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	one, two, other := settled(windowsProgram(1, 2, "code")), settled(windowsProgram(3, 4, "code")), settled(windowsProgram(1, 2, "edoc"))
	if !bytes.Equal(one, two) {
		t.Error("two links of the same code differ")
	}
	const identity = 0x200 + debugEntry + 4
	if bytes.Equal(one[identity:identity+identityBytes], other[identity:identity+identityBytes]) {
		t.Error("other code has the same identity")
	}
	if got := binary.LittleEndian.Uint32(one[0x48:]); got != uint32(when.Unix()) {
		t.Errorf("the time is %d", got)
	}
	if err := settle(filepath.Join("..", "..", "LICENSE"), when); err == nil {
		t.Error("what is no program is settled")
	}
}
