(module name: [(constant) @name (scope_resolution scope: (_) @container name: (constant) @name)] body: (_) @body) @definition.module
(module name: [(constant) @name (scope_resolution scope: (_) @container name: (constant) @name)]) @definition.module
(class name: [(constant) @name (scope_resolution scope: (_) @container name: (constant) @name)] body: (_) @body) @definition.class
(class name: [(constant) @name (scope_resolution scope: (_) @container name: (constant) @name)]) @definition.class

((assignment left: (constant) @name right: (call receiver: (constant) @_struct method: (identifier) @_new block: (_) @body)) @definition.class
  (#any-of? @_struct "Struct" "Class" "Data") (#any-of? @_new "new" "define"))
((assignment left: (constant) @name right: (call receiver: (constant) @_struct method: (identifier) @_new)) @definition.class
  (#any-of? @_struct "Struct" "Class" "Data") (#any-of? @_new "new" "define"))
((assignment right: (call receiver: (constant) @_struct method: (identifier) @_new arguments: (argument_list (simple_symbol) @name @definition.field)))
  (#any-of? @_struct "Struct" "Data") (#any-of? @_new "new" "define"))
(assignment left: (constant) right: (call block: (_ body: (_ (method name: (_) @name body: (_) @body) @definition.method))))
(assignment left: (constant) right: (call block: (_ body: (_ (method name: (_) @name) @definition.method))))

((method name: (_) @name body: (_) @body) @definition.method (#has-ancestor? @name "class" "module" "singleton_class"))
((method name: (_) @name) @definition.method (#has-ancestor? @name "class" "module" "singleton_class"))
(singleton_method name: (_) @name body: (_) @body) @definition.method
(singleton_method name: (_) @name) @definition.method
(method name: (_) @name body: (_) @body) @definition.function
(method name: (_) @name) @definition.function
(assignment left: (constant) @name right: [(array) (hash)] @body) @definition.const
(assignment left: (constant) @name) @definition.const
((call method: (identifier) @_attr arguments: (argument_list (simple_symbol) @name)) @definition.field
  (#any-of? @_attr "attr_reader" "attr_writer" "attr_accessor"))
((call method: (identifier) @_alias arguments: (argument_list . (simple_symbol) @name)) @definition.method
  (#any-of? @_alias "alias_method" "define_method"))
; private def x
(call !receiver arguments: (argument_list . [(method) (singleton_method)]) @wrap) @wrap
(comment) @comment

((call method: (identifier) @_require arguments: (argument_list . (string (string_content) @import.path))) @import
  (#any-of? @_require "require" "require_relative" "load"))

((call !receiver method: (identifier) @ref.call) (#not-any-of? @ref.call "require" "require_relative" "load"
  "attr_reader" "attr_writer" "attr_accessor" "include" "extend" "prepend" "private" "protected" "public" "module_function"
  "private_class_method" "public_class_method" "private_constant" "alias_method" "define_method" "raise" "puts" "lambda" "proc" "block_given?"))
(call receiver: (_) @qualifier method: (identifier) @ref.call)
(class superclass: (superclass (constant) @ref.inherit))
(class superclass: (superclass (scope_resolution scope: (_) @qualifier name: (constant) @ref.inherit)))
((call method: (identifier) @_mixin arguments: (argument_list
    [(constant) @ref.inherit (scope_resolution scope: (_) @qualifier name: (constant) @ref.inherit)]))
  (#any-of? @_mixin "include" "extend" "prepend"))
(scope_resolution scope: (_) @qualifier name: (constant) @ref.use)
(constant) @ref.use
