package catalogue

import (
	"os"
	"path/filepath"
	"testing"
)

// system makes what Linux says in files below a root of the test's.
func system(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestOnBattery(t *testing.T) {
	const at = "sys/class/power_supply/"
	battery := map[string]string{at + "BAT0/type": "Battery\n", at + "BAT0/status": "Discharging\n"}
	for _, test := range []struct {
		name string
		more map[string]string
		want bool
	}{
		{"a laptop without its cable", map[string]string{at + "AC/type": "Mains\n", at + "AC/online": "0\n"}, true},
		{"that says nothing of a cable", nil, true},
		{"at its cable", map[string]string{at + "AC/type": "Mains\n", at + "AC/online": "1\n"}, false},
		{"at a charger", map[string]string{at + "ucsi/type": "USB\n", at + "ucsi/online": "1\n"}, false},
		{"charging", map[string]string{at + "BAT0/status": "Charging\n"}, false},
		{"the battery of a mouse", map[string]string{at + "BAT0/scope": "Device\n"}, false},
	} {
		files := map[string]string{}
		for _, some := range []map[string]string{battery, test.more} {
			for name, text := range some {
				files[name] = text
			}
		}
		if got := onBattery(system(t, files)); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
	if onBattery(system(t, nil)) {
		t.Error("a machine without a battery runs on one")
	}
}

func TestFreeMemory(t *testing.T) {
	for text, want := range map[string]int64{
		"MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    1900000 kB\n": 1900000 << 10,
		"MemTotal:       16000000 kB\n": 0,
		"MemAvailable:   much\n":        0,
	} {
		if got := freeMemory(system(t, map[string]string{"proc/meminfo": text})); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	// What a container has read of files is not taken.
	const has = "MemAvailable:    9000000 kB\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"version 2": {map[string]string{"sys/fs/cgroup/memory.max": "4000000000\n", "sys/fs/cgroup/memory.current": "3900000000\n", "sys/fs/cgroup/memory.stat": "anon 400000000\nfile 3500000000\ninactive_file 3000000000\nactive_file 500000000\n"}, 3_100_000_000},
		"version 1": {map[string]string{
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "4000000000\n", "sys/fs/cgroup/memory/memory.usage_in_bytes": "3900000000\n", "sys/fs/cgroup/memory/memory.stat": "inactive_file 1\ntotal_inactive_file 1000000000\n",
		}, 1_100_000_000},
		"without statistics": {map[string]string{"sys/fs/cgroup/memory.max": "4000000000\n", "sys/fs/cgroup/memory.current": "3900000000\n"}, 100_000_000},
		"without a limit":    {map[string]string{"sys/fs/cgroup/memory.max": "max\n", "sys/fs/cgroup/memory.current": "3900000000\n"}, 9000000 << 10},
		"all of it taken":    {map[string]string{"sys/fs/cgroup/memory.max": "4000\n", "sys/fs/cgroup/memory.current": "4000\n"}, 1},
	} {
		test.files["proc/meminfo"] = has
		if got := freeMemory(system(t, test.files)); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	if free, total := FreeMemory(), MachineMemory(); free <= 0 || free > total {
		t.Errorf("this machine has %d bytes, %d of them free", total, free)
	}
}
