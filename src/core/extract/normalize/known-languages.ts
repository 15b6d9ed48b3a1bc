/*
 * Programming languages by the names that highlighters use. Many classes begin with `code-` or `highlight-` but name a part of the page;
 * this list tells them apart.
 */

const NAMES = `
abap abnf actionscript ada agda antlr apache apacheconf apex apl applescript aql arduino arm armasm asciidoc asm asp
aspnet asy autohotkey autoit awk bash bat batch batchfile bazel bibtex bicep bnf brainfuck c c# c++ caddy caddyfile clj
clojure cmake cmd cobol coffee coffeescript common-lisp console coq cpp cpp-objdump cr crystal cs csh csharp cshtml css
csv cue cuda cxx cypher cython d dart dax delphi desktop dhall diff django djot docker dockerfile doscon dosini dot dts
ebnf edn eex ejs elisp elixir elm elvish emacs emacs-lisp env erb erl erlang ex f# f90 factor fennel fish flow fortran
fs fsharp gas gawk gcode gdscript gherkin git gitconfig gitignore gleam glsl gnuplot go golang gql gradle graphql
graphviz groovy h haml handlebars haskell haxe hbs hcl hjson hlsl hpp hs html html+erb html+jinja htmldjango http idris
ini io ipython ipython2 ipython3 irb j java javascript javascriptreact jinja jinja2 jl js jsdoc json json-ld json5
jsonc jsonl jsonnet jsonp jsp jsx julia jupyter just kdl kotlin ksh kt kts kusto latex lean less lex liquid lisp
literate-haskell llvm log logtalk lua make makefile man markdown markup mathematica matlab mc md mdx mermaid meson
mips mojo moonscript msdos mustache mysql nasm ndjson nginx nim nix nixos nsis nu nushell objc objective-c objectivec
objectivecpp ocaml octave odin opencl openscad org pascal patch pcre pdl perl perl6 pgsql php php-template phtml pl
plantuml plist plpgsql plsql po pony postgres postgresql powershell prisma prolog promql properties proto protobuf ps
ps1 ps1con psql pug puppet purescript pwsh py py2 py3 pycon pycon3 pytb pytb3 python python2 python3 pyx q qml r racket
raku rb rbs rds re reason rebol reg regex rego rest rexx rkt robotframework ron rs rst ruby rust s sas sass sc scala
scheme scm scss sed sh shell shell-session shellsession shellscript slim smalltalk smt solidity sourcepawn sparql sql
sqlite squirrel ssh-config stan starlark stata sv svelte svg swift systemd systemverilog systemtap tcl tcsh terraform
tex textile tf thrift tl toml ts tsql tsx turtle twig typescript typescriptreact typst v vala vb vba vbnet vbscript
verilog vhdl vim viml vimscript vue vue-html wasm wast wat wgsl wolfram wren x86asm xhtml xml xml+jinja xonsh xquery
xsl xslt yaml yacc yang yml zig zsh`

export const KNOWN_LANGUAGES: ReadonlySet<string> = new Set(NAMES.trim().split(/\s+/))

/** Codes of spoken languages that are also names of programming languages. */
export const AMBIGUOUS_CODES: ReadonlySet<string> = new Set(['cs', 'pl', 'sc', 'sv', 'tl'])
