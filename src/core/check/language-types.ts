import type { Type } from './types.ts'

/**
 * Types of the language that packages extend, with their members. Without this list nothing could be said about a class that extends one
 * of them. Types that are missing here count as having any member.
 */
const MEMBERS: Readonly<Record<string, string>> = {
  Iterable: '',
  AsyncIterable: '',
  Iterator: 'next return throw',
  AsyncIterator: 'next return throw',
  IterableIterator: 'next return throw map filter take drop flatMap reduce toArray forEach some every find',
  AsyncIterableIterator: 'next return throw',
  Disposable: '',
  AsyncDisposable: '',
  ArrayLike: 'length',
  Error: 'message name stack cause',
  TypeError: 'message name stack cause',
  RangeError: 'message name stack cause',
  SyntaxError: 'message name stack cause',
  AggregateError: 'message name stack cause errors',
  Function: 'call apply bind name length prototype',
  Map: 'get set has delete clear size forEach keys values entries getOrInsert getOrInsertComputed',
  ReadonlyMap: 'get has size forEach keys values entries',
  Set: 'add has delete clear size forEach keys values entries union intersection difference symmetricDifference isSubsetOf isSupersetOf isDisjointFrom',
  ReadonlySet:
    'has size forEach keys values entries union intersection difference symmetricDifference isSubsetOf isSupersetOf isDisjointFrom',
  WeakMap: 'get set has delete',
  EventTarget: 'addEventListener removeEventListener dispatchEvent',
  RequestInit:
    'body cache credentials headers integrity keepalive method mode priority redirect referrer referrerPolicy signal window duplex dispatcher cf next attributionReporting browsingTopics privateToken',
  Response:
    'headers ok redirected status statusText type url clone body bodyUsed arrayBuffer blob bytes formData json text',
  Request:
    'cache credentials destination headers integrity keepalive method mode redirect referrer referrerPolicy signal url duplex isHistoryNavigation isReloadNavigation targetAddressSpace clone body bodyUsed arrayBuffer blob bytes formData json text',
  AddEventListenerOptions: 'once passive signal capture',
  Promise: 'then catch finally',
  Array:
    'length at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice some sort splice toReversed toSorted toSpliced unshift values with',
}

const TYPES: ReadonlyMap<string, Type> = new Map(
  Object.entries(MEMBERS).map(([name, names]) => [name, { kind: 'language', names: new Set(names.split(' ')) }]),
)

/** A type of the language; undefined if its members are not known. */
export function languageType(name: string): Type | undefined {
  return TYPES.get(name)
}

/** Whether a type of the language has a member. */
export function hasLanguageMember(type: string, name: string): boolean {
  const found = TYPES.get(type)
  return found?.kind === 'language' && found.names.has(name)
}
