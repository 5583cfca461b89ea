(rule_set (selectors) @name (block) @body) @definition.section
(media_statement . (_) @name (block) @body) @definition.section
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @definition.section
((declaration (property_name) @name) @definition.var (#match? @name "^--"))
(comment) @comment

(import_statement [(string_value) @import.path (call_expression (arguments (string_value) @import.path))]) @import

((call_expression (function_name) @_var (arguments (plain_value) @ref.use)) (#eq? @_var "var"))
