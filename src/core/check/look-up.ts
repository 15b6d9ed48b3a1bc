import { unionOf, withThis } from './bindings.ts'
import { findExport, findPath, listExports } from './find-names.ts'
import { hasLanguageMember, languageType } from './language-types.ts'
import { childOf, field, fields, has, named, type SyntaxNode, textOf, unquote } from './syntax-tree.ts'
import {
  type Bindings,
  type Declared,
  type DeclaredAt,
  type Entity,
  FREE,
  type Lookup,
  lost,
  NO_BINDINGS,
  OUTSIDE,
  type Resolver,
  type Scope,
  type Signature,
  type Type,
} from './types.ts'

const MISSING: Lookup = { state: 'missing' }
const OF_LANGUAGE: Lookup = { state: 'outside' }
const ANYTHING: Lookup = { state: 'found', type: () => FREE, at: undefined }

/** Members that every object has, and those of every function. */
const OBJECT_MEMBERS =
  /^(?:constructor|toString|toLocaleString|valueOf|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|__proto__)$/
const FUNCTION_MEMBERS = /^(?:call|apply|bind|name|length|prototype|arguments|caller)$/

/** Looks up a member of a type. `self` is the type that `this` stands for in its declaration. */
export function lookUp(resolver: Resolver, type: Type, name: string, self: Type = type): Lookup {
  if (resolver.isExhausted()) return { state: 'unknown', why: 'too many steps' }
  const found = lookUpOwn(resolver, type, name, self)
  if (found.state !== 'missing') return found
  const isCalled = FUNCTION_MEMBERS.test(name) && resolver.signatures(type, false)?.length !== 0
  return isCalled || OBJECT_MEMBERS.test(name) ? OF_LANGUAGE : found
}

function lookUpOwn(resolver: Resolver, type: Type, name: string, self: Type): Lookup {
  switch (type.kind) {
    case 'free':
    case 'outside':
      return OF_LANGUAGE
    // What extends a type of the language has its members; values of the language itself are not looked at.
    case 'language':
      return self === type || type.names.has(name) ? OF_LANGUAGE : MISSING
    case 'array':
      return self === type || hasLanguageMember('Array', name) ? OF_LANGUAGE : MISSING
    case 'promise':
      return self === type || hasLanguageMember('Promise', name) ? OF_LANGUAGE : MISSING
    case 'lost':
      return { state: 'unknown', why: type.why }
    case 'nothing':
      return MISSING
    case 'function':
      return FUNCTION_MEMBERS.test(name) ? OF_LANGUAGE : MISSING
    case 'object':
      if (isOfCode(type)) return OF_LANGUAGE
      return lookUpMembers(resolver, membersOf(type.node), name, type.scope, withThis(type.bindings, self))
    case 'instance':
      return lookUpInstance(resolver, type.declarations, type.bindings, name, self)
    case 'entity':
      return lookUpEntity(resolver, type.declarations, name, self)
    case 'module':
      return lookUpExport(resolver, type.scope, name)
    case 'union':
    case 'intersection':
      return lookUpAny(resolver, type.parts, name, type.kind === 'intersection' ? self : undefined)
    case 'filtered': {
      if (type.names.has(name) !== type.isKept) return MISSING
      return resolver.lookUp(type.of, name, self)
    }
    case 'record':
      if (type.names === undefined) return { state: 'found', type: () => type.valueOf(name), at: undefined }
      return type.names.has(name) ? { state: 'found', type: () => type.valueOf(name), at: type.at } : MISSING
    case 'renewed': {
      const found = resolver.lookUp(type.of, name, self)
      return found.state === 'found' ? { state: 'found', at: found.at, type: () => FREE } : found
    }
    case 'open': {
      const found = resolver.lookUp(type.base, name, self)
      if (found.state !== 'found') return found.state === 'missing' ? ANYTHING : found
      return { state: 'found', at: found.at, type: () => ({ kind: 'open', base: found.type() }) }
    }
  }
}

/** Found if one part has it; missing if none has it for certain. */
function lookUpAny(resolver: Resolver, parts: readonly Type[], name: string, self: Type | undefined): Lookup {
  const results = parts.map((part) => resolver.lookUp(part, name, self))
  const found = results.filter((one) => one.state === 'found')
  const [first] = found
  if (first !== undefined) {
    // If it can be something else too, its parameters are not certain.
    const isOpen = self === undefined && results.some(({ state }) => state === 'unknown' || state === 'outside')
    if (found.length === 1 && !isOpen) return first
    const type = (): Type => unionOf(found.map((one) => one.type()))
    return { state: 'found', at: first.at, type: isOpen ? () => ({ kind: 'open', base: type() }) : type }
  }
  const open = results.find(({ state }) => state === 'unknown') ?? results.find(({ state }) => state === 'outside')
  return open ?? MISSING
}

/** The members of a class, interface, enum or object type. */
export function membersOf(node: SyntaxNode): readonly SyntaxNode[] {
  const body = field(node, 'body') ?? childOf(node, 'class_body') ?? node
  return body.children
}

/** The name of a member; undefined for one that is computed. */
export function memberName(member: SyntaxNode): string | undefined {
  if (member.declaredName !== undefined) return member.declaredName
  const name = field(member, 'name') ?? (member.type === 'property_identifier' ? member : undefined)
  if (name === undefined || name.type === 'computed_property_name') return undefined
  return name.type === 'string' ? unquote(name) : textOf(name)
}

/** Whether a member belongs to the class itself. Members of types are never static, so they need not be parsed. */
function isStatic(member: SyntaxNode): boolean {
  return member.declaredName === undefined && has(member, 'static')
}

/** Members by name. */
function indexMembers(members: readonly SyntaxNode[]): ReadonlyMap<string, readonly SyntaxNode[]> {
  const known = indexes.get(members)
  if (known !== undefined) return known
  const index = new Map<string, SyntaxNode[]>()
  for (const member of members) {
    const name = memberName(member)
    const group = name === undefined ? undefined : index.get(name)
    if (group !== undefined) group.push(member)
    else if (name !== undefined) index.set(name, [member])
  }
  indexes.set(members, index)
  return index
}

const indexes = new WeakMap<readonly SyntaxNode[], ReadonlyMap<string, readonly SyntaxNode[]>>()

function lookUpMembers(
  resolver: Resolver,
  members: readonly SyntaxNode[],
  name: string,
  scope: Scope,
  bindings: Bindings,
  wantsStatic = false,
): Lookup {
  const found = (indexMembers(members).get(name) ?? []).filter((member) => isStatic(member) === wantsStatic)
  const [first] = found
  if (first !== undefined) {
    // What the project declares itself is no member of a package.
    const at = scope.module.isCode ? undefined : locate(first, scope)
    return { state: 'found', type: () => typeOfMembers(resolver, found, scope, bindings), at }
  }
  const index = members.find((member) => member.type === 'index_signature' && !wantsStatic)
  if (index !== undefined) {
    const key = field(index, 'index_type')
    if (key !== undefined && textOf(key) === 'number') return MISSING
    const value = field(index, 'type')
    const type = () => (value === undefined ? FREE : resolver.evaluate(value, scope, bindings))
    return { state: 'found', type, at: undefined }
  }
  const isUnclear = members.some(({ type }) => type === 'ERROR')
  return isUnclear ? { state: 'unknown', why: 'the declaration could not be parsed' } : MISSING
}

/** The type of a property, or of all overloads of a method. */
function typeOfMembers(resolver: Resolver, members: readonly SyntaxNode[], scope: Scope, bindings: Bindings): Type {
  const [first] = members
  if (first === undefined) return FREE
  const isMethod = /^(?:method_signature|method_definition|abstract_method_signature)$/.test(first.type)
  if (!isMethod) {
    const annotation = field(first, 'type')
    if (first.type === 'property_identifier' || first.type === 'enum_assignment') return OUTSIDE
    return annotation === undefined ? FREE : resolver.evaluate(annotation, scope, bindings)
  }
  if (has(first, 'get') || has(first, 'set')) {
    const getter = members.find((member) => has(member, 'get'))
    const result = getter === undefined ? undefined : field(getter, 'return_type')
    return result === undefined ? FREE : resolver.evaluate(result, scope, bindings)
  }
  const functions = members.map((node): Type => ({ kind: 'function', node, scope, bindings }))
  return functions.length === 1 ? (functions[0] ?? FREE) : { kind: 'intersection', parts: functions }
}

/** Where a node is declared. */
export function locate(node: SyntaxNode, scope: Scope): DeclaredAt {
  const { package: info, path } = scope.module
  return { package: info, path, line: node.row + 1 }
}

/** Where an entity is declared. */
export function locateEntity(entity: Entity): DeclaredAt | undefined {
  if (entity.kind === 'value') return entity.at
  if (entity.kind === 'module') return locate(entity.scope.module.root, entity.scope)
  return entity.declarations.map(({ node, scope }) => locate(node, scope))[0]
}

/** Looks up a member of an object of a class or interface, then of the types it extends. */
function lookUpInstance(
  resolver: Resolver,
  declarations: readonly Declared[],
  bindings: Bindings,
  name: string,
  self: Type,
): Lookup {
  if (declarations.some(isOfCode)) return OF_LANGUAGE
  const all = declarations.flatMap((one) => [one, ...resolver.augmentationsOf(one)])
  const inner = withThis(bindings, self)
  let unclear: Lookup | undefined
  for (const { node, scope } of all) {
    const found = lookUpMembers(resolver, membersOf(node), name, scope, inner)
    if (found.state === 'found') return found
    if (found.state === 'unknown') unclear = found
  }
  for (const declared of all) {
    for (const base of basesOf(resolver, declared, inner)) {
      const found = resolver.lookUp(base, name, self)
      if (found.state === 'found') return found
      if (found.state !== 'missing') unclear = unclear?.state === 'unknown' ? unclear : found
    }
  }
  if (unclear !== undefined) return unclear
  if (declarations.some((one) => resolver.globalKind(one) === 'language')) {
    // What extends `EventTarget` has its known members, no matter which files declare it.
    const known = languageType(declarations[0]?.name ?? '')
    const isBase = self.kind !== 'instance' || self.declarations !== declarations
    if (known?.kind === 'language' && isBase) return known.names.has(name) ? OF_LANGUAGE : MISSING
    return { state: 'unknown', why: 'other packages may add it' }
  }
  const plugin = findPlugin(resolver, declarations)
  if (plugin !== undefined) return { state: 'unknown', why: `${plugin} may add it, and is not installed` }
  resolver.noteLacking(declarations)
  return MISSING
}

/** A package that is not installed and may add members: a plugin has the name of the package in its own. */
function findPlugin(resolver: Resolver, declarations: readonly Declared[]): string | undefined {
  const [first] = declarations.filter(({ kind }) => kind === 'interface')
  const name = first?.scope.module.package.name.replace(/^@[^/]+\//, '')
  return name === undefined ? undefined : [...resolver.missingPackages].find((one) => one.includes(name))
}

/** Whether the checked code itself declares it. */
function isOfCode({ scope }: { readonly scope: Scope }): boolean {
  return scope.module.isCode
}

/** The types that a class or interface extends. */
function basesOf(resolver: Resolver, { node, scope, kind }: Declared, bindings: Bindings): Type[] {
  if (kind === 'interface') {
    const clause = childOf(node, 'extends_type_clause')
    if (clause === undefined) return []
    return fields(clause, 'type').map((type) => resolver.evaluate(type, scope, bindings))
  }
  const clause = extendsClause(node)
  const value = clause === undefined ? undefined : field(clause, 'value')
  if (clause === undefined || value === undefined) return []
  const entity = findPath(resolver, scope, value)
  const args = named(field(clause, 'type_arguments') ?? childOf(clause, 'type_arguments') ?? value)
  const isNamed = entity !== 'unknown' && entity.kind === 'declared'
  // An interface of the name of a class, or of a variable with its constructor, has the members of its objects.
  if (isNamed && entity.declarations.some(({ kind }) => kind === 'class' || kind === 'interface')) {
    const hasArgs = childOf(clause, 'type_arguments') !== undefined
    return [
      resolver.typeOf(
        entity,
        hasArgs ? args.map((arg) => resolver.defer(() => resolver.evaluate(arg, scope, bindings))) : [],
      ),
    ]
  }
  if (entity === 'unknown')
    return [
      isOutside(resolver, scope, value)
        ? (languageType(textOf(value)) ?? OUTSIDE)
        : lost(`${textOf(value)} is not known`),
    ]
  const constructors = resolver.signatures(resolver.valueOf(entity), true)
  return constructors === undefined ? [lost(textOf(value))] : constructors.map((one) => resultOf(resolver, one))
}

/** The class that a class extends, as a value; undefined if it extends none. */
export function basesOfClass(resolver: Resolver, { node, scope }: Declared): Type | 'unknown' | undefined {
  const clause = extendsClause(node)
  const value = clause === undefined ? undefined : field(clause, 'value')
  if (value === undefined) return undefined
  const entity = findPath(resolver, scope, value)
  return entity === 'unknown' ? entity : resolver.valueOf(entity)
}

/** Whether a name is declared nowhere in the package, such as `Error`. */
function isOutside(resolver: Resolver, scope: Scope, node: SyntaxNode): boolean {
  return node.type === 'identifier' && resolver.findName(scope, textOf(node)) === undefined
}

function extendsClause(node: SyntaxNode): SyntaxNode | undefined {
  const heritage = childOf(node, 'class_heritage')
  return heritage === undefined ? undefined : childOf(heritage, 'extends_clause')
}

/** The type that a signature returns, without knowledge of its arguments. */
export function resultOf(resolver: Resolver, { node, scope, bindings, creates }: Signature): Type {
  if (creates !== undefined) {
    const list = creates.typeParameters === undefined ? [] : named(creates.typeParameters)
    const names = list.map((one) => textOf(field(one, 'name') ?? one))
    return resolver.typeOf(
      creates.entity,
      names.map((name) => () => bindings.get(name) ?? FREE),
    )
  }
  const written = field(node, 'return_type') ?? (node.type === 'formal_parameters' ? undefined : field(node, 'type'))
  return written === undefined ? FREE : resolver.evaluate(written, scope, bindings)
}

/** Looks up a member of a class, function, namespace or enum itself. */
function lookUpEntity(resolver: Resolver, declarations: readonly Declared[], name: string, self: Type): Lookup {
  let unclear: Lookup | undefined
  for (const declared of declarations) {
    const { kind, node, scope, body } = declared
    let found: Lookup = MISSING
    if (kind === 'namespace' && body !== undefined) found = lookUpExport(resolver, body, name)
    else if (kind === 'enum') found = lookUpMembers(resolver, membersOf(node), name, scope, NO_BINDINGS)
    else if (kind === 'variable') {
      const annotation = field(node, 'type')
      found =
        annotation === undefined
          ? { state: 'unknown', why: 'a variable without written type' }
          : resolver.lookUp(resolver.evaluate(annotation, scope, NO_BINDINGS), name)
    } else if (kind === 'class') found = lookUpStatic(resolver, declared, name, self)
    else if (FUNCTION_MEMBERS.test(name)) found = OF_LANGUAGE
    if (found.state === 'found') return found
    if (found.state !== 'missing') unclear = found
  }
  return unclear ?? MISSING
}

function lookUpStatic(resolver: Resolver, { node, scope }: Declared, name: string, self: Type): Lookup {
  const own = lookUpMembers(resolver, membersOf(node), name, scope, withThis(NO_BINDINGS, self), true)
  if (own.state !== 'missing') return own
  if (FUNCTION_MEMBERS.test(name)) return OF_LANGUAGE
  const clause = extendsClause(node)
  const value = clause === undefined ? undefined : field(clause, 'value')
  if (value === undefined) return MISSING
  const entity = findPath(resolver, scope, value)
  if (entity === 'unknown')
    return isOutside(resolver, scope, value) ? OF_LANGUAGE : { state: 'unknown', why: textOf(value) }
  return resolver.lookUp(resolver.valueOf(entity), name, self)
}

function lookUpExport(resolver: Resolver, scope: Scope, name: string): Lookup {
  const entity = findExport(resolver, scope, name)
  if (entity === 'unknown') return { state: 'unknown', why: 'it may come from a module that is not installed' }
  if (entity === 'missing') return MISSING
  return { state: 'found', type: () => resolver.valueOf(entity), at: locateEntity(entity), entity }
}

/** Names of the members of a type, as far as they are known. */
export function namesOf(resolver: Resolver, type: Type, depth = 0): string[] {
  if (depth > MAX_NAME_DEPTH || resolver.isExhausted()) return []
  const inner = (one: Type) => namesOf(resolver, one, depth + 1)
  switch (type.kind) {
    case 'object':
      return membersOf(type.node).flatMap((member) => memberName(member) ?? [])
    case 'instance': {
      const all = type.declarations.flatMap((one) => [one, ...resolver.augmentationsOf(one)])
      return all.flatMap((one) => [
        ...membersOf(one.node).flatMap((member) => (isStatic(member) ? [] : (memberName(member) ?? []))),
        ...basesOf(resolver, one, withThis(type.bindings, type)).flatMap(inner),
      ])
    }
    case 'entity':
      return type.declarations.flatMap((one) => {
        if (one.body !== undefined) return listExports(resolver, one.body)
        if (one.kind === 'variable') {
          const annotation = field(one.node, 'type')
          return annotation === undefined ? [] : inner(resolver.evaluate(annotation, one.scope, NO_BINDINGS))
        }
        const isClass = one.kind === 'class'
        const members = isClass || one.kind === 'enum' ? membersOf(one.node) : []
        return members.flatMap((member) => (isStatic(member) === isClass ? (memberName(member) ?? []) : []))
      })
    case 'module':
      return listExports(resolver, type.scope)
    case 'union':
    case 'intersection':
      return type.parts.flatMap(inner)
    case 'filtered':
      return inner(type.of).filter((name) => type.names.has(name) === type.isKept)
    case 'record':
      return [...(type.names ?? [])]
    case 'renewed':
      return inner(type.of)
    case 'open':
      return inner(type.base)
    default:
      return []
  }
}

const MAX_NAME_DEPTH = 12
