package engines

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	advapi32  = windows.NewLazySystemDLL("advapi32.dll")
	credReadW = advapi32.NewProc("CredReadW")
	credFree  = advapi32.NewProc("CredFree")
)

// credential is Windows' CREDENTIALW.
type credential struct {
	flags, kind    uint32
	target         *uint16
	comment        *uint16
	written        windows.Filetime
	blobSize       uint32
	blob           *byte
	persist        uint32
	attributeCount uint32
	attributes     uintptr
	alias          *uint16
	user           *uint16
}

// storedKey asks Credential Manager for the key of a host.
func storedKey(_ context.Context, host string) (string, error) {
	target, err := windows.UTF16PtrFromString(keyService + ":" + host)
	if err != nil {
		return "", err
	}
	const generic = 1
	var found *credential
	done, _, failure := credReadW.Call(uintptr(unsafe.Pointer(target)), generic, 0, uintptr(unsafe.Pointer(&found)))
	if done == 0 {
		return "", fmt.Errorf("Credential Manager: %w", failure)
	}
	defer credFree.Call(uintptr(unsafe.Pointer(found)))
	// cmdkey writes UTF-16.
	words := unsafe.Slice((*uint16)(unsafe.Pointer(found.blob)), found.blobSize/2)
	key := strings.TrimSpace(string(utf16.Decode(words)))
	if key == "" {
		return "", fmt.Errorf("the key in Credential Manager is empty")
	}
	return key, nil
}

// storing is the command by which a user puts a key in.
func storing(host string) string {
	return fmt.Sprintf("cmdkey /generic:%s:%s /user:quarry /pass", keyService, host)
}
