//go:build unix

package workspace_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"quarry/retrieval/workspace"
)

var (
	benchTree  = flag.String("tree", "", "a folder to ask BenchmarkReferences about; `src` of the Go distribution for the symbols of bench/house.md")
	benchState = flag.String("state", "", "the state folder with its index")
	benchNames = flag.String("symbols", "testing/testing.go#common.Errorf fmt/errors.go#Errorf errors/errors.go#New fmt/print.go#Println io/io.go#Reader os/file_posix.go#File.Close "+
		"strings/builder.go#Builder.String bytes/buffer.go#Buffer.String net/net.go#Conn.Close net/http/server.go#Server.newConn", "ids of symbols")
)

// BenchmarkReferences asks for the references of symbols of a real tree, as get_references does. The metrics
// are processor time: the first question of a process about the symbol, and the next ones.
func BenchmarkReferences(b *testing.B) {
	if *benchTree == "" || *benchState == "" {
		b.Skip("name a tree and the state folder with its index: -tree DIR -state DIR")
	}
	w := workspace.New(workspace.Options{StateDir: *benchState, WaitLimit: time.Minute})
	defer w.Close()
	w.SetRoots([]string{*benchTree})
	if err := w.CatchUp(b.Context()); err != nil {
		b.Fatal(err)
	}
	for id := range strings.FieldsSeq(*benchNames) {
		s, _, err := w.SymbolByID(b.Context(), id)
		if err != nil {
			b.Fatal(err)
		}
		total := 0
		ask := func(b *testing.B) {
			found, err := w.References(b.Context(), s, 100)
			if err != nil {
				b.Fatal(err)
			}
			total = found.Total
		}
		before := processorTime(b)
		ask(b)
		first := processorTime(b) - before
		b.Run(strings.ReplaceAll(id, "/", "_"), func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				ask(b)
			}
			b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e6, "cpu-ms/op")
			b.ReportMetric(float64(first)/1e6, "first-cpu-ms")
			b.ReportMetric(float64(total), "references")
		})
	}
}

func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		b.Fatal(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
