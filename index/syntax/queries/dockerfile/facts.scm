; The name of a build stage, where it has one.
(from_instruction as: (image_alias) @name) @definition.section
(arg_instruction name: (_) @name) @definition.var
(env_instruction (env_pair name: (_) @name) @definition.var)
(comment) @comment

(from_instruction (image_spec) @import.path) @import

(expansion (variable) @ref.use)
