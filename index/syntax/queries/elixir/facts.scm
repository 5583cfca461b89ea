; Everything is a call here; the target's name tells what it declares.
((call target: (identifier) @_def (arguments (alias) @name) (do_block
    (unary_operator operand: (call target: (identifier) @_attr (arguments [(string) (sigil)] @doc)))) @body) @definition.module
  (#eq? @_def "defmodule") (#eq? @_attr "moduledoc"))
((call target: (identifier) @_def (arguments (alias) @name) (do_block) @body) @definition.module (#eq? @_def "defmodule"))
((call target: (identifier) @_def (arguments (alias) @name) (do_block) @body) @definition.interface (#eq? @_def "defprotocol"))
((call target: (identifier) @_def (arguments (keywords (pair value: (alias) @name))) (do_block)) @scope (#eq? @_def "defimpl"))

((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (identifier) @name
  ]) (do_block) @body) @definition.function
  (#any-of? @_def "def" "defp" "defdelegate"))
((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (identifier) @name
  ])) @definition.function
  (#any-of? @_def "def" "defp" "defdelegate"))
((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ]) (do_block) @body) @definition.macro
  (#any-of? @_def "defmacro" "defmacrop"))
((call target: (identifier) @_def (arguments . [
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
  ])) @definition.macro
  (#any-of? @_def "defmacro" "defmacrop" "defguard" "defguardp"))

((unary_operator operand: (call target: (identifier) @_attr (arguments (binary_operator left: [(identifier) @name (call target: (identifier) @name)])))) @definition.type
  (#any-of? @_attr "type" "typep" "opaque"))
((unary_operator operand: (call target: (identifier) @_attr (arguments (binary_operator left: (call target: (identifier) @name))))) @definition.method
  (#any-of? @_attr "callback" "macrocallback"))
((unary_operator operator: "@" operand: (call target: (identifier) @name (arguments [(integer) (string) (list) (map) (atom) (float) (sigil) (tuple)]))) @definition.const
  (#not-any-of? @name "moduledoc" "doc" "typedoc" "spec" "behaviour" "impl" "type" "callback" "derive" "enforce_keys" "dialyzer" "deprecated" "since" "tag"))

((call target: (identifier) @_def (arguments [
    (list [(atom) @name @definition.field (keywords (pair key: (keyword) @name) @definition.field)])
    (keywords (pair key: (keyword) @name) @definition.field)]))
  (#any-of? @_def "defstruct" "defexception"))

; @doc, @spec and their like stand above what they describe.
((unary_operator operand: (call target: (identifier) @_attr (arguments [(string) (sigil)]))) @comment (#any-of? @_attr "doc" "typedoc"))
((unary_operator operand: (call target: (identifier) @_attr)) @leading (#any-of? @_attr "spec" "impl" "deprecated"))
(comment) @comment

((call target: (identifier) @_use (arguments . (alias) @import.path)) @import (#any-of? @_use "use" "import" "require" "alias"))
((call target: (identifier) @_use (arguments (keywords (pair key: (keyword) @_as value: (alias) @import.alias)))) @import
  (#eq? @_use "alias") (#match? @_as "^as:"))
((call target: (identifier) @_use (arguments (dot left: (alias) @import.path right: (tuple (alias) @import.name)))) @import (#eq? @_use "alias"))

((call target: (identifier) @ref.call) (#not-any-of? @ref.call "def" "defp" "defmodule" "defmacro" "defmacrop" "defguard" "defguardp"
  "defstruct" "defprotocol" "defimpl" "defdelegate" "defexception" "use" "import" "alias" "require" "if" "unless" "case" "cond" "with" "for"
  "quote" "unquote" "raise" "doc" "moduledoc" "typedoc" "spec" "type" "typep" "callback" "behaviour" "impl" "derive" "enforce_keys" "defoverridable" "when" "fn" "receive" "try" "test" "describe"))
(call target: (dot left: (_) @qualifier right: (identifier) @ref.call))
((call target: (identifier) @_attr (arguments (alias) @ref.inherit)) (#any-of? @_attr "behaviour" "use" "defimpl"))
(struct (alias) @ref.use)
