package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quarry/cmd/internal/cli"
	"quarry/lsp/service/client"
	"quarry/lsp/service/device"
	"quarry/lsp/settings"
	"quarry/retrieval"
)

// deviceCommands are those by which a user lets the programs of other machines into a quarry
// serve, and one by which this machine becomes such a device.
func (a *app) deviceCommands() []*cobra.Command {
	var roots []string
	pair := &cobra.Command{
		Use:   "pair NAME",
		Short: "Let a program on another machine in, by a code that is good once",
		Long: `Let a program on another machine search in some of your folders. It is shown a code that
lets one device in, once, within two minutes, and waits for it; Ctrl-C withdraws the code.
The quarry serve that runs must have been started with --websocket.

On the other machine: quarry serve join ADDRESS CODE, or a program that uses a client of
docs/service.md.`,
		Example: `  quarry serve --websocket 192.168.1.5:7417 &
  quarry serve pair laptop --root ~/src/api`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return userService{a}.pair(cmd.Context(), args[0], roots)
		},
	}
	pair.Flags().StringSliceVar(&roots, "root", []string{"."}, "`folders` that the device may search in, and below")
	list := &cobra.Command{
		Use: "devices", Short: "List the devices that are paired", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return userService{a}.devices(cmd.Context()) },
	}
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "Let a device in no longer, and end what it has open", Args: cobra.ExactArgs(1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return userService{a}.pairedNames(len(args) > 0), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return userService{a}.revoke(cmd.Context(), args[0]) },
	}
	var name string
	join := &cobra.Command{
		Use:   "join ADDRESS CODE",
		Short: "Pair this machine with a quarry serve on another one",
		Long: `Pair this machine with a quarry serve on another one, by the address and the code that
quarry serve pair shows there. quarry search --at NAME searches there from then on.`,
		Example: `  quarry serve join 192.168.1.5:7417 7K3M-Q2XV-9RTB-4HWA --as desk
  quarry search --at desk where are retries counted`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return userService{a}.join(cmd.Context(), args[0], args[1], name)
		},
	}
	join.Flags().StringVar(&name, "as", "", "what to call that service here (default: its address)")
	return []*cobra.Command{pair, list, revoke, join}
}

// store keeps the paired devices.
func (a userService) store() (*device.Store, error) {
	state, err := a.stateFolder()
	if err != nil {
		return nil, err
	}
	return device.NewStore(filepath.Join(state, "serve")), nil
}

// running is the quarry serve that runs, however it differs from this build. The error is
// client.ErrNotRunning if none does.
func (a userService) running(ctx context.Context, command string) (*client.Conn, error) {
	path, err := a.socket(a.CommandSettings())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, runningWithin)
	defer cancel()
	return client.Dial(ctx, path, client.Options{Hello: client.Hello{Client: "quarry serve " + command}})
}

func (a userService) pair(ctx context.Context, name string, roots []string) error {
	for i, root := range roots {
		whole, err := filepath.Abs(root)
		if err != nil {
			return err
		}
		roots[i] = whole
	}
	conn, err := a.running(ctx, "pair")
	if errors.Is(err, client.ErrNotRunning) {
		return errors.New("no quarry serve runs: start one with `quarry serve --websocket ADDRESS`, an address of this machine and a port such as 192.168.1.5:7417")
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	offered, err := conn.OfferPairing(ctx, client.Pairing{Name: name, Roots: roots})
	if err != nil {
		return said(err)
	}
	to := a.Stdout
	if a.JSON { // whose document is the device, once it is there
		to = a.Stderr
	}
	fmt.Fprintf(to, "code     %s  (once, for %.0f minutes)\naddress  %s\nfolders  %s\n", offered.Code,
		device.PairWithin.Minutes(), strings.Join(offered.Addresses, ", "), inLine(strings.Join(roots, ", ")))
	if len(offered.Addresses) > 0 {
		fmt.Fprintf(to, "\nOn the other machine: quarry serve join %s %s\n", offered.Addresses[0], offered.Code)
	}
	fmt.Fprintln(a.Stderr, "Waiting for it; Ctrl-C withdraws the code.")
	paired, err := conn.AwaitPairing(ctx)
	if err != nil {
		return said(err)
	}
	if a.JSON {
		return a.PrintJSON(paired)
	}
	fmt.Fprintf(a.Stdout, "Paired: %s. `quarry serve revoke %[1]s` lets it in no longer.\n", inLine(paired.Name))
	return nil
}

// said is what a service says no with, without the name of the request.
func said(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func (a userService) devices(ctx context.Context) error {
	var all client.Devices
	conn, err := a.running(ctx, "devices")
	switch {
	case err == nil:
		defer conn.Close()
		all, err = conn.Devices(ctx)
		err = said(err)
	case errors.Is(err, client.ErrNotRunning):
		all = client.Devices{Devices: []client.Device{}, Addresses: []string{}}
		var store *device.Store
		var kept []device.Device
		if store, err = a.store(); err == nil {
			kept, err = store.List()
		}
		for _, d := range kept {
			all.Devices = append(all.Devices, client.Device{ID: d.ID, Name: d.Name, Roots: d.Roots, Paired: d.Paired})
		}
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(all)
	}
	if len(all.Devices) == 0 {
		fmt.Fprintln(a.Stdout, "No device is paired. `quarry serve pair NAME` lets one in.")
	}
	for _, d := range all.Devices {
		now := ""
		if d.Connected {
			now = ", connected"
		}
		fmt.Fprintf(a.Stdout, "%s  since %s%s: %s\n", inLine(d.Name), d.Paired.Local().Format(time.DateOnly), now, inLine(strings.Join(d.Roots, ", ")))
	}
	if len(all.Addresses) == 0 {
		fmt.Fprintln(a.Stdout, "None can connect now: `quarry serve --websocket ADDRESS` lets them.")
	}
	return nil
}

func (a userService) revoke(ctx context.Context, name string) error {
	var gone client.Device
	conn, err := a.running(ctx, "revoke")
	switch {
	case err == nil:
		defer conn.Close()
		gone, err = conn.Revoke(ctx, name)
		err = said(err)
	case errors.Is(err, client.ErrNotRunning):
		var store *device.Store
		var d device.Device
		if store, err = a.store(); err == nil {
			d, err = store.Remove(name)
		}
		gone = client.Device{ID: d.ID, Name: d.Name, Roots: d.Roots, Paired: d.Paired}
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(gone)
	}
	fmt.Fprintf(a.Stdout, "Revoked: %s. What it had open has ended.\n", inLine(gone.Name))
	return nil
}

// pairedNames are the devices that can be revoked, for a shell to complete; none once there is one.
func (a userService) pairedNames(one bool) (names []string) {
	store, err := a.store()
	if err != nil || one {
		return nil
	}
	list, err := store.List()
	if err != nil {
		return nil
	}
	for _, d := range list {
		names = append(names, inLine(d.Name))
	}
	return names
}

// joinedNames are the services that this machine is paired with, for a shell to complete.
func (a userService) joinedNames() (names []string) {
	state, err := a.stateFolder()
	if err != nil {
		return nil
	}
	files, err := os.ReadDir(filepath.Join(state, "serve", "joined"))
	if err != nil {
		return nil
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".json"); ok && serviceName.MatchString(name) {
			names = append(names, name)
		}
	}
	return names
}

// serviceName is a name for a service on another machine that is a file's as well.
var serviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// joined is the file with what this machine is to a service on another one.
func (a userService) joined(name string) (string, error) {
	if !serviceName.MatchString(name) {
		return "", fmt.Errorf("%w: %q is no name for a service: letters, digits, dots and dashes", cli.ErrUsage, name)
	}
	state, err := a.stateFolder()
	if err != nil {
		return "", err
	}
	return filepath.Join(state, "serve", "joined", name+".json"), nil
}

// pairingWithin is how long the whole of a pairing may take.
const pairingWithin = 30 * time.Second

func (a userService) join(ctx context.Context, address, code, name string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("%w: %q is no address: host:port, as `quarry serve pair` shows it", cli.ErrUsage, address)
	}
	if name == "" {
		name = strings.TrimLeft(strings.NewReplacer(":", "-", "[", "", "]", "").Replace(address), "-") // of [::1]:7417, too
	}
	path, err := a.joined(name)
	if err != nil {
		return err
	}
	// Only what is paired anew, as after a revocation, is replaced: the key of another service is
	// nowhere else.
	if kept, err := credentials(path); err == nil && kept.Address != address {
		return fmt.Errorf("%q is the service at %s already: take another name by --as, or remove %s", name, inLine(kept.Address), path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pairingWithin)
	defer cancel()
	who, err := client.Pair(ctx, address, code)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(who, "", "  ")
	if err == nil {
		err = settings.ReplaceFile(path, append(text, '\n'), 0o600)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(joinOutput{Name: name, Device: who.Name, Address: who.Address, Roots: who.Roots})
	}
	fmt.Fprintf(a.Stdout, "This machine is paired as %s, and may search in %s.\n`quarry search --at %s QUERY` does.\n",
		inLine(who.Name), inLine(strings.Join(who.Roots, ", ")), name)
	return nil
}

// joinOutput is the JSON of `quarry serve join`.
type joinOutput struct {
	Name    string   `json:"name"`   // of the service, for --at
	Device  string   `json:"device"` // what this machine is called there
	Address string   `json:"address"`
	Roots   []string `json:"roots"`
}

// mostShown is how many lines of a result from another machine are shown.
const mostShown = 6

// credentials are what this machine is to a service on another one.
func credentials(path string) (who client.Credentials, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &who)
	}
	return who, err
}

// searchAt searches in a quarry serve on another machine.
func (a userService) searchAt(ctx context.Context, service, query, mode string, k, offset int) error {
	path, err := a.joined(service)
	if err != nil {
		return err
	}
	who, err := credentials(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no service is called %q here: `quarry serve join ADDRESS CODE --as %[1]s` pairs this machine with it", service)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read (%w): `quarry serve join ADDRESS CODE --as %s` pairs this machine anew", path, err, service)
	}
	method := map[string]string{
		string(retrieval.SignalsAll): "quarry/search.hybrid", searchSymbols: "quarry/search.hybrid",
		string(retrieval.SignalsLexical): "quarry/search.lexical", string(retrieval.SignalsSemantic): "quarry/search.semantic",
	}[mode]
	if method == "" {
		return fmt.Errorf("%w: --mode %q must be hybrid, lexical, semantic or symbols", cli.ErrUsage, mode)
	}
	ctx, cancel := context.WithTimeout(ctx, a.WaitLimit()+runningWithin)
	defer cancel()
	conn, err := client.DialDevice(ctx, who, client.Options{Hello: client.Hello{Client: "quarry search", Roots: who.Roots}})
	if err != nil {
		return err
	}
	defer conn.Close()
	params := client.Search{Query: query, K: k, Offset: offset, IncludeText: true, Current: true}
	if mode == searchSymbols {
		params.Mode = string(retrieval.ModeSymbols)
	}
	var answer client.Answer
	if err := conn.Call(ctx, method, params, &answer); err != nil {
		return said(err)
	}
	if a.JSON {
		return a.PrintLine(answer)
	}
	s := screen{colour: cli.OnTerminal(a.Stdout)}
	for _, note := range answer.Notes {
		fmt.Fprintln(a.Stderr, note)
	}
	if answer.Incomplete != nil {
		fmt.Fprintf(a.Stderr, "quarry: incomplete: %s is still reading (%d of %d files)\n", service, answer.Incomplete.FilesDone, answer.Incomplete.FilesTotal)
	}
	if len(answer.Results) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing found. Fewer or other words may find it.")
	}
	for _, r := range answer.Results {
		fmt.Fprintln(a.Stdout, s.style(cli.Bold, fmt.Sprintf("%s:%d", inLine(r.Path), r.StartLine))+"  "+strings.TrimSpace(r.Kind+" "+r.Symbol))
		if len(r.Reasons) > 0 {
			fmt.Fprintln(a.Stdout, "  "+s.style(cli.Dim, strings.Join(r.Reasons, " · ")))
		}
		for i, line := range strings.SplitN(strings.TrimRight(r.Text, "\n"), "\n", mostShown+1) {
			if i == mostShown || r.Text == "" {
				break
			}
			fmt.Fprintf(a.Stdout, "%s %s\n", s.style(cli.Dim, fmt.Sprintf("%6d │", r.TextStart+i)), strings.ReplaceAll(line, "\t", "    "))
		}
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprintln(a.Stdout, s.style(cli.Dim, fmt.Sprintf("%d of %d files of %s by %s", len(answer.Results), answer.Total, service, strings.Join(answer.Backend, ", "))))
	return nil
}
