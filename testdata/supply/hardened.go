package main

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// protection is one against misuse of a fault in the binary.
type protection struct {
	name  string
	there bool
}

// hardened answers an error that names each protection which a binary lacks, of those that
// its system has.
func hardened(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil {
		return err
	}
	var all []protection
	switch {
	case string(magic) == elf.ELFMAG:
		all, err = protectionsOfELF(f)
	case bytes.HasPrefix(magic, []byte("MZ")):
		all, err = protectionsOfPE(f)
	default:
		all, err = protectionsOfMachO(f)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var has, lacks []string
	for _, p := range all {
		if p.there {
			has = append(has, p.name)
		} else {
			lacks = append(lacks, p.name)
		}
	}
	if len(lacks) > 0 {
		return fmt.Errorf("%s lacks %s", name, strings.Join(lacks, ", "))
	}
	fmt.Println("hardened: " + strings.Join(has, ", "))
	return nil
}

func protectionsOfELF(r io.ReaderAt) ([]protection, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	common := []protection{
		{"a position of its own at each start (PIE)", f.Type == elf.ET_DYN},
		{"RELRO", slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_RELRO })},
		{"a stack that runs no code", !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_GNU_STACK && p.Flags&elf.PF_X != 0 })},
	}
	if !slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }) {
		guarded, err := guardsInCode(f)
		// It names nothing that is bound later, and musl has no checked copies.
		return append(common, protection{"guarded stacks", guarded}), err
	}
	flags, err := f.DynValue(elf.DT_FLAGS)
	if err != nil {
		return nil, err
	}
	imported, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	has := func(match func(string) bool) bool {
		return slices.ContainsFunc(imported, func(s elf.ImportedSymbol) bool { return match(s.Name) })
	}
	return append(common,
		protection{"BIND_NOW", slices.ContainsFunc(flags, func(v uint64) bool { return elf.DynFlag(v)&elf.DF_BIND_NOW != 0 })},
		protection{"guarded stacks", has(func(s string) bool { return s == "__stack_chk_fail" })},
		protection{"checked copies (FORTIFY_SOURCE)", has(func(s string) bool { return strings.HasPrefix(s, "__") && strings.HasSuffix(s, "_chk") })},
	), nil
}

// guardsInCode reports whether a program without names of its functions guards its stacks.
func guardsInCode(f *elf.File) (bool, error) {
	text := f.Section(".text")
	if text == nil || f.Machine != elf.EM_X86_64 {
		return false, fmt.Errorf("code of %v without names cannot be judged", f.Machine)
	}
	code, err := text.Data()
	if err != nil {
		return false, err
	}
	// A function takes the word that guards its stack by mov %fs:0x28: 64 48 8b, a register, and the address.
	for address := []byte{0x25, 0x28, 0, 0, 0}; ; {
		at := bytes.Index(code, address)
		if at < 0 {
			return false, nil
		}
		if at >= 4 && bytes.Equal(code[at-4:at-1], []byte{0x64, 0x48, 0x8b}) {
			return true, nil
		}
		code = code[at+len(address):]
	}
}

func protectionsOfPE(r io.ReaderAt) ([]protection, error) {
	f, err := pe.NewFile(r)
	if err != nil {
		return nil, err
	}
	head, ok := f.OptionalHeader.(*pe.OptionalHeader64)
	if !ok {
		return nil, fmt.Errorf("no 64-bit program")
	}
	has := func(flag uint16) bool { return head.DllCharacteristics&flag != 0 }
	return []protection{
		{"a position of its own at each start", has(pe.IMAGE_DLLCHARACTERISTICS_DYNAMIC_BASE)},
		{"of 64 bits", has(pe.IMAGE_DLLCHARACTERISTICS_HIGH_ENTROPY_VA)},
		{"data that runs no code", has(pe.IMAGE_DLLCHARACTERISTICS_NX_COMPAT)},
	}, nil
}

func protectionsOfMachO(r io.ReaderAt) ([]protection, error) {
	f, err := macho.NewFile(r)
	if err != nil {
		return nil, err
	}
	imported, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	// LC_CODE_SIGNATURE: without one, an Apple processor starts no program.
	signed := slices.ContainsFunc(f.Loads, func(l macho.Load) bool {
		raw := l.Raw()
		return len(raw) >= 4 && f.ByteOrder.Uint32(raw) == 0x1d
	})
	return []protection{
		{"a position of its own at each start (PIE)", f.Flags&macho.FlagPIE != 0},
		{"guarded stacks", slices.Contains(imported, "___stack_chk_fail")},
		{"a signature of its own", signed || f.Cpu != macho.CpuArm64},
	}, nil
}

// stripped answers an error if a program of Linux or Windows carries notes for debuggers. They name
// the folders in which its C was compiled, which differ from machine to machine.
func stripped(name string) error {
	var sections []string
	if f, err := elf.Open(name); err == nil {
		defer f.Close()
		for _, s := range f.Sections {
			sections = append(sections, s.Name)
		}
	} else if f, err := pe.Open(name); err == nil {
		defer f.Close()
		for _, s := range f.Sections {
			sections = append(sections, s.Name)
		}
	}
	for _, s := range sections {
		if strings.HasPrefix(s, ".debug") || s == ".symtab" {
			return fmt.Errorf("%s carries %s, which names folders of this machine: link it with -s", name, s)
		}
	}
	return nil
}

// oldEnough answers an error if an ELF binary needs a newer C library than its target has:
// the last part of "x86_64-linux-gnu.2.31".
func oldEnough(name, target string) error {
	f, err := elf.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	imported, err := f.ImportedSymbols()
	if err != nil {
		return err
	}
	_, oldest, _ := strings.Cut(target, "gnu.")
	limit, err := versionOf(oldest)
	if err != nil {
		return err
	}
	for _, s := range imported {
		number, ok := strings.CutPrefix(s.Version, "GLIBC_")
		if !ok {
			continue
		}
		if v, err := versionOf(number); err != nil || slices.Compare(v, limit) > 0 {
			return fmt.Errorf("%s needs %s of glibc %s, newer than %s", name, s.Name, number, oldest)
		}
	}
	return nil
}

// versionOf is the numbers of "2.31".
func versionOf(s string) ([]int, error) {
	var numbers []int
	for part := range strings.SplitSeq(s, ".") {
		var n int
		if _, err := fmt.Sscanf(part, "%d", &n); err != nil {
			return nil, fmt.Errorf("version %q: %w", s, err)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}
