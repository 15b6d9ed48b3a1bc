import type { SyntaxNode } from './syntax-tree.ts'

/** A file with declarations, and where it belongs. */
export interface ModuleInfo {
  readonly path: string
  readonly root: SyntaxNode
  /** Package that has the file. */
  readonly package: PackageInfo
  /** Names that stand for `import('…')` in types, with the module. */
  readonly inlineImports: ReadonlyMap<string, string>
  /** Whether it is the code of a program and no declaration file. */
  readonly isCode: boolean
}

/** An installed package. */
export interface PackageInfo {
  readonly name: string
  readonly version: string
  readonly folder: string
  /** Whether its `.js` files are ECMAScript modules. */
  readonly isEsm: boolean
  /** Whether `import` loads ECMAScript modules of it, so that a default export must be declared. */
  readonly hasEsm: boolean
  /** Whether it has no CommonJS modules, so that `require` returns what its modules export. */
  readonly isEsmOnly: boolean
}

/** A place where names are declared: a module, or the body of a namespace. */
export interface Scope {
  readonly module: ModuleInfo
  readonly parent: Scope | undefined
  readonly declarations: ReadonlyMap<string, readonly Declared[]>
  readonly exports: readonly ExportEntry[]
  /** Modules of which everything is exported. */
  readonly exportsAllOf: readonly string[]
  /** Expression that is the whole module: `export = name`. */
  readonly whole: SyntaxNode | undefined
  /** Whether only marked declarations are exported. */
  readonly isExplicit: boolean
  /** Whether it imports or exports something. The declarations of other files are for all modules. */
  readonly isModule: boolean
  readonly ambient: ReadonlyMap<string, Scope>
  /** Names that every module sees: `declare global`. */
  readonly globals: readonly Scope[]
}

/** A name that a scope exports under its own or another name. */
export interface ExportEntry {
  readonly name: string
  /** Name in this scope or in the other module; `*` for the whole module as one object. */
  readonly local: string
  readonly from: string | undefined
  /** The exported expression, if it has no name. */
  readonly value?: SyntaxNode
}

export type DeclaredKind =
  | 'class'
  | 'interface'
  | 'type'
  | 'function'
  | 'variable'
  | 'enum'
  | 'namespace'
  | 'import'
  | 'import-alias'

/** A declaration in a scope. */
export interface Declared {
  readonly kind: DeclaredKind
  readonly name: string
  readonly node: SyntaxNode
  readonly scope: Scope
  readonly isExported: boolean
  /** For imports: the module, and the name in it; `default`, or `*` for all of it. */
  readonly from?: string
  readonly imported?: string
  /** For namespaces: what is inside. */
  readonly body?: Scope
}

/** What a name of a module stands for. */
export type Entity =
  | { readonly kind: 'declared'; readonly declarations: readonly Declared[] }
  | { readonly kind: 'module'; readonly scope: Scope }
  | { readonly kind: 'value'; readonly type: Type; readonly at?: DeclaredAt | undefined }

/** Types that the parameters of a generic stand for. `this` is the type of the receiver. */
export type Bindings = Pick<ReadonlyMap<string, Type>, 'get'>

export const NO_BINDINGS: Bindings = new Map()

/** What is known about a value. */
export type Type =
  /** Declared so that it can be anything: `any`, or a type that depends on the values of the user. */
  | { readonly kind: 'free' }
  /** It has a declaration that this program cannot follow. */
  | { readonly kind: 'lost'; readonly why: string }
  /** A value of the language or of the code itself, whose members are not looked up. `text` is that of a string literal. */
  | { readonly kind: 'outside'; readonly isPrimitive: boolean; readonly text?: string }
  /** A type of the language, or of Node and browsers, with the names of its members. */
  | { readonly kind: 'language'; readonly names: ReadonlySet<string> }
  /** `undefined`, `null`, `void`, `never` */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'instance'; readonly declarations: readonly Declared[]; readonly bindings: Bindings }
  | { readonly kind: 'object'; readonly node: SyntaxNode; readonly scope: Scope; readonly bindings: Bindings }
  | { readonly kind: 'entity'; readonly declarations: readonly Declared[] }
  | { readonly kind: 'module'; readonly scope: Scope }
  | { readonly kind: 'function'; readonly node: SyntaxNode; readonly scope: Scope; readonly bindings: Bindings }
  /** One of these: a member exists if one of them has it. */
  | { readonly kind: 'union'; readonly parts: readonly Type[] }
  | { readonly kind: 'intersection'; readonly parts: readonly Type[] }
  /** `isEmpty` is known of tuples only. */
  | { readonly kind: 'array'; readonly item: () => Type; readonly isEmpty?: boolean }
  | { readonly kind: 'promise'; readonly value: () => Type }
  /** A type without some of its members, or with only some. */
  | { readonly kind: 'filtered'; readonly of: Type; readonly names: ReadonlySet<string>; readonly isKept: boolean }
  /** Has these members: `Record<'a' | 'b', T>`, and mapped types. Without names every member exists. */
  | {
      readonly kind: 'record'
      readonly names: ReadonlySet<string> | undefined
      readonly valueOf: (name: string) => Type
      readonly at: DeclaredAt
    }
  /** Has the names of the members of a type; what they are has changed. */
  | { readonly kind: 'renewed'; readonly of: Type }
  /** Has at least the members of this type. */
  | { readonly kind: 'open'; readonly base: Type }

export const FREE: Type = { kind: 'free' }
export const OUTSIDE: Type = { kind: 'outside', isPrimitive: false }
/** Texts, numbers and the like. */
export const PRIMITIVE: Type = { kind: 'outside', isPrimitive: true }
export const NOTHING: Type = { kind: 'nothing' }

/** The type of a string literal. */
export function literal(text: string): Type {
  return { kind: 'outside', isPrimitive: true, text }
}

export function lost(why: string): Type {
  return { kind: 'lost', why }
}

/** Where something is declared. */
export interface DeclaredAt {
  readonly package: PackageInfo
  readonly path: string
  /** Line, from 1. */
  readonly line: number
}

/** Result of looking up a member. */
export type Lookup =
  /** `entity`: what a module or namespace exports under this name, which can also be a type. */
  | {
      readonly state: 'found'
      readonly type: () => Type
      readonly at: DeclaredAt | undefined
      readonly entity?: Entity
    }
  /** `isShared`: one of the declarations that lack it is for all modules, so that every package may add members. */
  | { readonly state: 'missing'; readonly isShared?: boolean }
  | { readonly state: 'unknown'; readonly why: string }
  /** Of the language itself, such as `toString`. */
  | { readonly state: 'outside' }

/** The class that a constructor belongs to. */
export interface Created {
  readonly entity: Entity
  /** Its type parameters. */
  readonly typeParameters: SyntaxNode | undefined
}

/** A way to call something. */
export interface Signature {
  /** Node with `parameters` and `type_parameters`. */
  readonly node: SyntaxNode
  readonly scope: Scope
  readonly bindings: Bindings
  /** For constructors: the class, whose type parameters are those of the call. */
  readonly creates?: Created
}

/** The functions that resolve types call each other through this. */
export interface Resolver {
  evaluate(node: SyntaxNode, scope: Scope, bindings: Bindings): Type
  /** Evaluates what an alias stands for. Recursion is limited. */
  evaluateAlias(value: SyntaxNode, scope: Scope, bindings: Bindings): Type
  /** Evaluates a branch of a condition that cannot be decided. Nesting is limited. */
  evaluateChoice(node: SyntaxNode, scope: Scope, bindings: Bindings): Type
  /** A type that is evaluated when it is first asked for. */
  defer(evaluate: () => Type): () => Type
  /** The type of the value that an entity has; undefined if the name is not known. */
  valueOf(entity: Entity): Type
  /** The type that an entity names. */
  typeOf(entity: Entity, args: readonly (() => Type)[]): Type
  lookUp(type: Type, name: string, self?: Type): Lookup
  /** The signatures of a type; undefined if they are not known. */
  signatures(type: Type, isNew: boolean): readonly Signature[] | undefined
  /** Finds a name inside of a scope and its parents. */
  findName(scope: Scope, name: string): Entity | 'unknown' | undefined
  /** Finds the name that is written as a node, such as `a` or `a.b`. */
  findWritten(scope: Scope, node: SyntaxNode): Entity | 'unknown' | undefined
  /** Finds a name that is declared for all modules. */
  findGlobal(name: string): Entity | undefined
  /** Finds a name that a scope exports. */
  findExport(scope: Scope, name: string): Entity | 'unknown' | 'missing'
  /** Names of members, to suggest one. */
  namesOf(type: Type): string[]
  openModule(specifier: string, from: ModuleInfo): Scope | undefined
  /** The other blocks that declare the same module: `declare module 'name' { … }`. */
  siblingsOf(scope: Scope): readonly Scope[]
  /** Declarations that other loaded packages add to those of a module. */
  augmentationsOf(declared: Declared): readonly Declared[]
  /** Whether a declaration is for all modules. `language` if the language or its platform may declare more of it. */
  globalKind(declared: Declared): 'namespace' | 'language' | undefined
  /** Notes the declarations of an interface or class that lack a member. */
  noteLacking(declarations: readonly Declared[]): void
  /** Packages that the code imports, but that are not installed: plugins of another package may add members to its interfaces. */
  readonly missingPackages: ReadonlySet<string>
  /** Counts a step; true if too many were made. */
  isExhausted(): boolean
}
