; The name of a build stage, where it has one. Its instructions are its children: see
; language.head.
(from_instruction as: (image_alias) @name) @definition.section
(arg_instruction name: (_) @name) @definition.var
(env_instruction (env_pair name: (_) @name) @definition.var)
(comment) @comment

(from_instruction (image_spec) @import.path) @import

; Another stage, or an image: FROM build, COPY --from=build.
(from_instruction (image_spec name: (image_name) @ref.use))
((copy_instruction (param) @ref.use) (#match? @ref.use "^--from=[A-Za-z]"))
(expansion (variable) @ref.use)
