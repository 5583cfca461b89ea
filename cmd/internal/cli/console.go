package cli

// What a console of Windows does with what is written to it (SetConsoleMode).
const (
	processedOutput = 0x0001
	virtualTerminal = 0x0004
)

// follows reports whether a console of Windows follows escape sequences. It does so when it
// is asked to, from Windows 10 on; an older one would show them as letters. What is no
// console has no mode.
func follows(mode func() (uint32, error), set func(uint32) error) bool {
	now, err := mode()
	if err != nil {
		return false
	}
	const want = processedOutput | virtualTerminal
	return now&want == want || set(now|want) == nil
}
