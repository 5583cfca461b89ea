package main

import "os"

// polled is f: a pipe of Windows's standard streams can only be read by a thread that
// waits.
func polled(f *os.File) *os.File { return f }
