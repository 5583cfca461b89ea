package client

import (
	"encoding/json"
	"time"
)

// Protocol is the version of the protocol, which rises when a client of before would
// misunderstand what it is answered; new members and methods do not raise it.
const Protocol = 1

// The requests that quarry serve adds to those of docs/protocol.md.
const (
	MethodHello      = "quarry/hello"
	MethodAddRoot    = "quarry/index.addRoot"
	MethodRemoveRoot = "quarry/index.removeRoot"
	MethodService    = "quarry/service.status"
)

// MethodTool calls a tool as `quarry mcp` serves it to an agent; docs/agents.md has the tools.
const MethodTool = "quarry/tools.call"

// The requests by which the user lets devices in; no device may make them.
const (
	MethodPair    = "quarry/devices.pair"
	MethodPaired  = "quarry/devices.paired"
	MethodDevices = "quarry/devices.list"
	MethodRevoke  = "quarry/devices.revoke"
)

// MethodProgress is the notification of work on the folders of a client.
const MethodProgress = "quarry/index.progress"

// CodeOtherProtocol is the code of the error that refuses a client of another protocol; its data
// is a Mismatch. CodeOtherSettings refuses one that wants answers by other settings.
const (
	CodeOtherProtocol = -32804
	CodeOtherSettings = -32805
)

// Hello is what a client says first.
type Hello struct {
	Protocol int    `json:"protocol" jsonschema:"the version of the protocol that the client speaks"`
	Client   string `json:"client,omitzero" jsonschema:"what the client is called, at most 200 bytes"`
	// Roots are added as by MethodAddRoot.
	Roots []string `json:"roots,omitzero" jsonschema:"folders to serve, absolute paths, as by quarry/index.addRoot"`
	// ShowDocument: the client answers window/showDocument, so that it can be asked to open.
	ShowDocument bool `json:"showDocument,omitzero" jsonschema:"the client answers window/showDocument, by which quarry/open.atSpan opens a file"`
	// Settings has the service refuse a client whose settings, or build, are others: the command
	// line's.
	Settings string `json:"settings,omitzero" jsonschema:"refuse the client unless settings and build of the service have this digest, as quarry search asks"`
}

// Welcome is the answer to a Hello.
type Welcome struct {
	Protocol int      `json:"protocol"`
	Version  string   `json:"version" jsonschema:"of quarry"`
	Process  int      `json:"process" jsonschema:"the number of the service's process"`
	Roots    []string `json:"roots"`
	Methods  []string `json:"methods" jsonschema:"the requests that are served"`
}

// Mismatch is the data of the error that refuses a client of another protocol.
type Mismatch struct {
	Service int    `json:"service" jsonschema:"the protocol of the service"`
	Client  int    `json:"client" jsonschema:"the protocol of the client"`
	Version string `json:"version" jsonschema:"of the service's quarry"`
	Process int    `json:"process" jsonschema:"the number of the service's process"`
}

// Root are the params of MethodAddRoot and MethodRemoveRoot.
type Root struct {
	Path string `json:"path" jsonschema:"a folder, an absolute path"`
}

// Roots are the folders of the client, in the order it added them: the result of both.
type Roots struct {
	Roots []string `json:"roots"`
}

// Progress is how far work on the client's folders is.
type Progress struct {
	Title    string  `json:"title" jsonschema:"what is done, such as Indexing api"`
	Fraction float64 `json:"fraction" jsonschema:"0 to 1"`
	Message  string  `json:"message"`
	Done     bool    `json:"done,omitzero" jsonschema:"the work has ended"`
}

// Status is what a service does: the result of MethodService.
type Status struct {
	Version  string         `json:"version" jsonschema:"of quarry"`
	Protocol int            `json:"protocol"`
	Process  int            `json:"process" jsonschema:"the number of the service's process"`
	Socket   string         `json:"socket"`
	Started  time.Time      `json:"started"`
	Answered int64          `json:"answered" jsonschema:"requests since the start, those for the status left out"`
	Clients  []StatusClient `json:"clients" jsonschema:"who is connected, whoever asks left out"`
	Open     []string       `json:"open" jsonschema:"folders that are kept current; one that nobody has asked for a quarter of an hour is let go"`
	// Addresses are none where the service takes no devices. A device is told of no clients and
	// no folders.
	Addresses []string `json:"addresses" jsonschema:"where devices reach the service over WebSocket, none if it takes none"`
}

// StatusClient is a client of a service.
type StatusClient struct {
	Client string   `json:"client"`
	Roots  []string `json:"roots"`
}

// Pairing are the params of MethodPair.
type Pairing struct {
	Name  string   `json:"name" jsonschema:"what the device is called"`
	Roots []string `json:"roots" jsonschema:"folders that the device may search in, absolute paths"`
}

// Offered is the result of MethodPair: a code that lets one device in, once.
type Offered struct {
	Code      string    `json:"code"`
	Addresses []string  `json:"addresses" jsonschema:"where a device pairs, the likeliest first"`
	Expires   time.Time `json:"expires"`
}

// Device is one that has been paired: the result of MethodPaired, which waits for it, and of
// MethodRevoke.
type Device struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Roots     []string  `json:"roots" jsonschema:"folders that it may search in"`
	Paired    time.Time `json:"paired"`
	Connected bool      `json:"connected"`
}

// Devices is the result of MethodDevices.
type Devices struct {
	Devices   []Device `json:"devices"`
	Addresses []string `json:"addresses" jsonschema:"where devices reach the service, none if it takes none"`
}

// Revoked are the params of MethodRevoke.
type Revoked struct {
	Name string `json:"name" jsonschema:"of the device, or its id"`
}

// Tool are the params of MethodTool, whose result is the tool's answer.
type Tool struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Search are the params of quarry/search.hybrid, .lexical and .semantic, which
// docs/protocol.md describes.
type Search struct {
	Query              string          `json:"query"`
	K                  int             `json:"k,omitzero"`
	Offset             int             `json:"offset,omitzero"`
	Filters            Filters         `json:"filters,omitzero"`
	IncludeText        bool            `json:"includeText,omitzero"`
	ContextLines       int             `json:"contextLines,omitzero"`
	Declarations       bool            `json:"includeDeclarations,omitzero"`
	Fusion             string          `json:"fusion,omitzero"`
	Diversity          float64         `json:"diversity,omitzero"`
	TextDocument       *Document       `json:"textDocument,omitzero"`
	Position           Position        `json:"position,omitzero"`
	Folder             string          `json:"folder,omitzero"`
	Mode               string          `json:"mode,omitzero"`
	Current            bool            `json:"current,omitzero"`
	PartialResultToken json.RawMessage `json:"partialResultToken,omitzero"`
}

// Document names a file by its URI.
type Document struct {
	URI string `json:"uri"`
}

// Position is a line of a document, from 0.
type Position struct {
	Line uint32 `json:"line"`
}

// Filters add to those of a query.
type Filters struct {
	Paths     []string `json:"paths,omitzero"`
	Languages []string `json:"languages,omitzero"`
	Symbols   []string `json:"symbols,omitzero"`
	Kinds     []string `json:"kinds,omitzero"`
	Types     []string `json:"types,omitzero"`
}

// Similar are the params of quarry/similar.
type Similar struct {
	Code         string  `json:"code,omitzero"`
	URI          string  `json:"uri,omitzero"`
	Path         string  `json:"path,omitzero"`
	StartLine    int     `json:"startLine,omitzero"`
	EndLine      int     `json:"endLine,omitzero"`
	Query        string  `json:"query,omitzero"`
	K            int     `json:"k,omitzero"`
	Filters      Filters `json:"filters,omitzero"`
	IncludeText  bool    `json:"includeText,omitzero"`
	ContextLines int     `json:"contextLines,omitzero"`
	Current      bool    `json:"current,omitzero"`
}

// Answer is the result of a search and of quarry/similar.
type Answer struct {
	Results     []Result           `json:"results"`
	Backend     []string           `json:"backend"`
	Total       int                `json:"total"`
	Incomplete  *Missing           `json:"incomplete,omitzero"`
	NotSearched map[string]int     `json:"not_searched,omitzero"`
	NothingLeft bool               `json:"nothing_left,omitzero"`
	Notes       []string           `json:"notes,omitzero"`
	Timings     map[string]float64 `json:"timings_ms"`
}

// Result is one file that answers, at its best place. Lines are 1-based and inclusive.
type Result struct {
	URI       string     `json:"uri"`
	Root      string     `json:"root"`
	Path      string     `json:"path"`
	StartLine int        `json:"start_line"`
	EndLine   int        `json:"end_line"`
	Symbol    string     `json:"symbol"`
	Kind      string     `json:"kind"`
	Score     float64    `json:"score"`
	Reasons   []string   `json:"reasons"`
	More      []Place    `json:"more"`
	Declares  []Declared `json:"declares,omitempty"`
	Declared  int        `json:"declared,omitempty"`
	Text      string     `json:"text,omitempty"`
	TextStart int        `json:"text_start_line,omitempty"`
}

// Place is a further place in a result's file.
type Place struct {
	StartLine int     `json:"start_line"`
	EndLine   int     `json:"end_line"`
	Symbol    string  `json:"symbol"`
	Kind      string  `json:"kind"`
	Score     float64 `json:"score"`
}

// Declared is a declaration in a result's file.
type Declared struct {
	Line   int    `json:"line"`
	Symbol string `json:"symbol"`
	Kind   string `json:"kind"`
}

// Missing is what an answer could not look at.
type Missing struct {
	Doing      string   `json:"doing"`
	Folder     string   `json:"folder"`
	FilesDone  int      `json:"files_done"`
	FilesTotal int      `json:"files_total"`
	Searchable []string `json:"searchable"`
	Reason     string   `json:"reason,omitempty"`
}

// Span are the params of quarry/content.getSpan and quarry/open.atSpan. Lines are 1-based and
// inclusive; a relative path is one in the client's first folder.
type Span struct {
	URI          string `json:"uri,omitzero"`
	Path         string `json:"path,omitzero"`
	StartLine    int    `json:"startLine"`
	EndLine      int    `json:"endLine"`
	ContextLines int    `json:"contextLines,omitzero"`
}

// Text is the result of quarry/content.getSpan.
type Text struct {
	Path      string `json:"path"`
	StartLine int    `json:"start_line"`
	EndLine   int    `json:"end_line"`
	Text      string `json:"text"`
	Truncated bool   `json:"truncated"`
}
