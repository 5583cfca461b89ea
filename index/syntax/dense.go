package syntax

// What a file may put into the index, by its length. A text that has more is not what its name
// says, or says nothing that a declaration is searched for, and costs many times its length: a
// megabyte of a{a{a{ in CSS has 270,000 declarations. It is read by its lines.
//
// The bounds are two to five times what the densest of 33,931 files of source have, of a megabyte at
// most: the trees of the ghost text suite, Go's own source and the modules of its users. Declarations:
// 1,602 in 16,653 bytes (a list of opcodes), 5,872 in 270,748 (a kernel's types), 9,461 in 945,502.
// References and imports: 1,767 in 26,916, 8,450 in 273,195, 12,748 in 543,532. Chunks: 648 in
// 134,022, 1,839 in 576,054.
const (
	fewSymbols, bytesPerSymbol = 4000, 32
	fewUses, bytesPerUse       = 4000, 12
	fewChunks, bytesPerChunk   = 200, 80
)

func mostSymbols(size int) int { return fewSymbols + size/bytesPerSymbol }
func mostUses(size int) int    { return fewUses + size/bytesPerUse }
func mostChunks(size int) int  { return fewChunks + size/bytesPerChunk }

// hasTooMany answers whether a text has more declarations, or more references and imports, than
// a file may have.
func (a *analysis) hasTooMany() bool {
	symbols := 0
	for i := range a.declarations {
		if a.declarations[i].kind != "" {
			symbols++
		}
	}
	uses := len(a.refs) + len(a.imports)
	for i := range a.imports {
		uses += len(a.imports[i].Names)
	}
	return symbols > mostSymbols(len(a.src)) || uses > mostUses(len(a.src))
}
