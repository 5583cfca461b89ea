// Generated from docs/service.schema.json and docs/protocol.schema.json by `go test ./lsp/service -run TypeScriptIsCurrent -update`: change those.

/** The version of the protocol that these types are of. */
export const protocol = 1;

/** The requests, each with its params and its result. */
export interface Requests {
  'quarry/content.getSpan': { params: Span; result: SpanText };
  'quarry/devices.list': { params: null; result: Devices };
  'quarry/devices.pair': { params: Pairing; result: Offered };
  'quarry/devices.paired': { params: null; result: Device };
  'quarry/devices.revoke': { params: Revoked; result: Device };
  'quarry/hello': { params: Hello; result: Welcome };
  'quarry/index.addRoot': { params: Root; result: Roots };
  'quarry/index.rebuild': { params: null; result: null };
  'quarry/index.removeRoot': { params: Root; result: Roots };
  'quarry/index.status': { params: null; result: Folder[] | null };
  'quarry/open.atSpan': { params: Span; result: Shown };
  'quarry/search.hybrid': { params: Search; result: Answer };
  'quarry/search.lexical': { params: Search; result: Answer };
  'quarry/search.semantic': { params: Search; result: Answer };
  'quarry/service.status': { params: null; result: Status };
  'quarry/similar': { params: Similar; result: Answer };
  'quarry/tools.call': { params: ToolCall; result: ToolAnswer };
}

/** What the service tells unasked. */
export interface Notifications {
  'quarry/index.progress': Progress;
}

export interface Span {
  uri?: string;
  /** absolute, or relative to the first folder of the workspace */
  path?: string;
  /** 1-based */
  startLine: number;
  /** 1-based, inclusive */
  endLine: number;
  contextLines?: number;
}

export interface SpanText {
  path: string;
  start_line: number;
  end_line: number;
  text: string;
  /** the file ends before the span does */
  truncated: boolean;
}

export interface Devices {
  devices: Device[] | null;
  /** where devices reach the service, none if it takes none */
  addresses: string[] | null;
}

export interface Device {
  id: string;
  name: string;
  /** folders that it may search in */
  roots: string[] | null;
  paired: string;
  connected: boolean;
}

export interface Pairing {
  /** what the device is called */
  name: string;
  /** folders that the device may search in, absolute paths */
  roots: string[] | null;
}

export interface Offered {
  code: string;
  /** where a device pairs, the likeliest first */
  addresses: string[] | null;
  expires: string;
}

export interface Revoked {
  /** of the device, or its id */
  name: string;
}

export interface Hello {
  /** the version of the protocol that the client speaks */
  protocol: 1;
  /** what the client is called, at most 200 bytes */
  client?: string;
  /** folders to serve, absolute paths, as by quarry/index.addRoot */
  roots?: string[] | null;
  /** the client answers window/showDocument, by which quarry/open.atSpan opens a file */
  showDocument?: boolean;
  /** refuse the client unless settings and build of the service have this digest, as quarry search asks */
  settings?: string;
}

export interface Welcome {
  protocol: number;
  /** of quarry */
  version: string;
  /** the number of the service's process */
  process: number;
  roots: string[] | null;
  /** the requests that are served */
  methods: string[] | null;
}

export interface Root {
  /** a folder, an absolute path */
  path: string;
}

export interface Roots {
  roots: string[] | null;
}

export interface Progress {
  /** what is done, such as Indexing api */
  title: string;
  /** 0 to 1 */
  fraction: number;
  message: string;
  /** the work has ended */
  done?: boolean;
}

export interface Folder {
  root: string;
  database: string;
  writer: string;
  working: boolean;
  doing: string[] | null;
  learning: boolean;
  whole: boolean;
  stale?: Stale | null;
  files: number;
  chunks: number;
  symbols: number;
  references: number;
  bytes: number;
  database_bytes: number;
  scanned?: string;
  scan_seconds: number;
  skipped: Record<string, number>;
  skipped_paths: Skipped[] | null;
  problems: Problem[] | null;
  troubles: string[] | null;
  last_error: string;
  embedding: Embedding;
}

export interface Stale {
  new: number;
  changed: number;
  gone: number;
}

export interface Skipped {
  path: string;
  reason: string;
}

export interface Problem {
  path: string;
  problem: string;
}

export interface Embedding {
  state: string;
  model: string;
  dimension: number;
  next: string;
  texts: number;
  embedded: number;
  refused: number;
  bytes: number;
  error: string;
  lost: number;
  lost_at?: string;
}

export interface Shown {
  shown: boolean;
}

export interface Search {
  /** free text, "quoted text", and filters such as lang:go */
  query: string;
  /** most results, 10 if absent, at most 100 */
  k?: number;
  /** how many of the first results are left out */
  offset?: number;
  /** added to those of the query */
  filters?: Filters;
  /** give the text of each result */
  includeText?: boolean;
  /** lines more on both sides of the text, at most 50 */
  contextLines?: number;
  /** give what the file of each result declares */
  includeDeclarations?: boolean;
  /** how signals become one order: linear (default) or rrf */
  fusion?: string;
  /** 0 to 1: trades relevance for difference between results */
  diversity?: number;
  /** where the user is; without it nothing is near */
  textDocument?: TextDocument | null;
  position?: Position;
  /** where a user without a document is, an absolute path: what is below it is near */
  folder?: string;
  /** all, code, docs, symbols or recent, as mode: in the query, over which it wins */
  mode?: string;
  /** first compare the folders with the index, and wait up to five seconds until what differs is indexed */
  current?: boolean;
  /** asks for batches of results by $/progress, as {results} */
  partialResultToken?: string | number;
}

export interface Filters {
  /** parts of paths, or globs */
  paths?: string[] | null;
  languages?: string[] | null;
  symbols?: string[] | null;
  kinds?: string[] | null;
  /** code, test, doc, config or markup */
  types?: string[] | null;
}

export interface TextDocument {
  uri: string;
}

export interface Position {
  /** 0-based */
  line: number;
}

export interface Answer {
  results: Result[] | null;
  backend: string[] | null;
  /** how many were found; of lines, one more than the page has if there are more */
  total: number;
  /** what the index did not know yet; absent if nothing */
  incomplete?: Missing | null;
  /** what is not indexed, by reason, where the query asks for lines or nothing was found, and what could not be parsed where a declaration was asked for */
  not_searched?: Record<string, number>;
  /** the filters leave out every file */
  nothing_left?: boolean;
  /** which words of the query look like filters and are none */
  notes?: string[] | null;
  timings_ms: Record<string, number>;
}

export interface Result {
  uri: string;
  root: string;
  path: string;
  start_line: number;
  end_line: number;
  symbol: string;
  kind: string;
  score: number;
  reasons: string[] | null;
  more: Place[] | null;
  declares?: Declared[] | null;
  declared?: number;
  text?: string;
  text_start_line?: number;
}

export interface Place {
  start_line: number;
  end_line: number;
  symbol: string;
  kind: string;
  score: number;
}

export interface Declared {
  line: number;
  symbol: string;
  kind: string;
}

export interface Missing {
  doing: string;
  folder: string;
  files_done: number;
  files_total: number;
  searchable: string[] | null;
  reason?: string;
}

export interface Status {
  /** of quarry */
  version: string;
  protocol: number;
  /** the number of the service's process */
  process: number;
  socket: string;
  started: string;
  /** requests since the start, those for the status left out */
  answered: number;
  /** who is connected, whoever asks left out */
  clients: StatusClient[] | null;
  /** folders that are kept current; one that nobody has asked for a quarter of an hour is let go */
  open: string[] | null;
  /** where devices reach the service over WebSocket, none if it takes none */
  addresses: string[] | null;
}

export interface StatusClient {
  client: string;
  roots: string[] | null;
}

export interface Similar {
  /** the code to compare with; without it the lines of the file */
  code?: string;
  uri?: string;
  /** absolute, or relative to the first folder of the workspace */
  path?: string;
  /** 1-based */
  startLine?: number;
  /** 1-based, inclusive */
  endLine?: number;
  /** filters, as in the query of a search; no words */
  query?: string;
  /** most results, 10 if absent, at most 100 */
  k?: number;
  filters?: Filters;
  /** give the text of each result */
  includeText?: boolean;
  /** lines more on both sides of the text, at most 50 */
  contextLines?: number;
  /** as in a search */
  current?: boolean;
}

export interface ToolCall {
  name: string;
  arguments?: Record<string, unknown>;
}

export interface ToolAnswer {
  ok: boolean;
  data: unknown;
  error: ToolError | null;
  meta: ToolMeta;
}

export interface ToolError {
  code: string;
  message: string;
}

export interface ToolMeta {
  truncated: boolean;
  next_offset?: number;
  bytes: number;
  warnings: string[] | null;
  backend?: string[] | null;
  incomplete?: Missing | null;
}
