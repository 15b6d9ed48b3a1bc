import { isJsonObject } from '../../core/json/is-json-object.ts'
import { PLACE_KINDS, type PlaceKind } from '../../library/ports/findings.ts'
import {
  NAME_KINDS,
  type NameKind,
  normalizeName,
  PLACE_RELATIONS,
  type PlaceName,
  type PlaceRecord,
  slugOf,
} from '../analysis/place.ts'
import type { GazetteerSource } from '../ports/gazetteer.ts'
import { createDisplayName, createName } from './names.ts'
import { regionRef } from './read-cities.ts'

/** A place in a file: a JSON object, or a table row by column. */
export type RawRecord = Readonly<Record<string, unknown>>

/** Why a place is invalid. */
class PlaceFormatError extends Error {}

/** Parses a source in the file's head; undefined when it has no name. */
export function parseSource(value: unknown): GazetteerSource | undefined {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return undefined
  const text = (key: string): string => (typeof value[key] === 'string' ? value[key] : '')
  const { name } = value
  const url = text('url')
  return {
    name,
    version: text('version') || 'own',
    license: text('license') || 'unknown',
    attribution: text('attribution') || name,
    url: url === '' ? null : url,
  }
}

/** Parses a place, or returns why it is invalid. Only a name is required. */
export function parsePlace(raw: RawRecord): PlaceRecord | string {
  try {
    return toRecord(raw)
  } catch (error) {
    if (error instanceof PlaceFormatError) return error.message
    throw error
  }
}

function toRecord(raw: RawRecord): PlaceRecord {
  const names = readNames(raw)
  const displayName = names.find(({ isPreferred }) => isPreferred) ?? names[0]
  if (displayName === undefined || normalizeName(displayName.name) === '') throw new PlaceFormatError('it has no name')
  const invalid = names.find(({ name }) => CONTROL_CHARACTER.test(name))
  if (invalid !== undefined) {
    const text = JSON.stringify(invalid.name.slice(0, 40))
    throw new PlaceFormatError(`names: expected text, got invalid characters in ${text}`)
  }
  const kind = oneOf('kind', PLACE_KINDS, raw['kind'] || 'city')
  const countryCode = readCode(raw, 'country')
  const adm1Code = readCode(raw, 'adm1')
  return {
    ref: readText(raw, 'ref') ?? refOf(kind, countryCode, adm1Code, displayName.name),
    kind,
    countryCode,
    adm1Code,
    adm2Code: readCode(raw, 'adm2'),
    population: readNumber(raw, 'population', 0, Number.MAX_SAFE_INTEGER),
    timezone: readText(raw, 'timezone'),
    lat: readNumber(raw, 'lat', -90, 90),
    lng: readNumber(raw, 'lng', -180, 180),
    bbox: readBox(raw['bbox']),
    status: oneOf('status', ['current', 'historical'] as const, raw['status'] || 'current'),
    validFrom: readText(raw, 'validFrom'),
    validTo: readText(raw, 'validTo'),
    extra: isJsonObject(raw['extra']) ? raw['extra'] : null,
    names,
    parents: readParents(raw, kind, countryCode, adm1Code),
    externalIds: readList(raw, 'externalIds').map((entry) => ({
      source: readText(entry, 'source') ?? throwMissing('externalIds', 'source'),
      id: readText(entry, 'id') ?? throwMissing('externalIds', 'id'),
    })),
  }
}

/**
 * Control characters other than line breaks and tabs, which table fields may contain, and the replacement character of undecodable bytes.
 */
const CONTROL_CHARACTER = /[^\P{Cc}\n\r\t]|\ufffd/u

/**
 * The reference of a place without its own. Countries and regions get the references of the world data, so that they are the same places.
 */
function refOf(kind: PlaceKind, country: string | null, adm1: string | null, name: string): string {
  if (kind === 'country' && country !== null) return `iso:${country}`
  if (kind === 'region' && country !== null && adm1 !== null) return regionRef(country, adm1)
  const where = [country, adm1].filter((code) => code !== null)
  return `own:${[kind, ...where, slugOf(name)].join(':')}`
}

function readNames(raw: RawRecord): PlaceName[] {
  const lang = readText(raw, 'lang')
  const name = readText(raw, 'name')
  const own = name === null ? [] : [createDisplayName(name, lang)]
  const { names } = raw
  // Format in a table: `Wien|Vienna|Вена`.
  if (typeof names === 'string') {
    const others = names.split('|').map((entry) => entry.trim())
    return [...own, ...others.filter((entry) => entry !== '').map((entry) => createName(entry, null, 'alias'))]
  }
  const listed = readList(raw, 'names').map((entry): PlaceName => {
    const kind: NameKind = oneOf('names', NAME_KINDS, entry['kind'] ?? 'alias')
    const text = readText(entry, 'name') ?? throwMissing('names', 'name')
    const isOfficial = entry['isOfficial'] === true
    return { name: text, lang: readText(entry, 'lang'), kind, isPreferred: entry['isPreferred'] === true, isOfficial }
  })
  return [...own, ...listed]
}

function readParents(
  raw: RawRecord,
  kind: string,
  country: string | null,
  adm1: string | null,
): PlaceRecord['parents'] {
  if (raw['parents'] !== undefined) {
    return readList(raw, 'parents').map((entry) => ({
      ref: readText(entry, 'ref') ?? throwMissing('parents', 'ref'),
      relation: oneOf('parents', PLACE_RELATIONS, entry['relation'] ?? 'admin_parent'),
    }))
  }
  if (country === null || kind === 'country' || kind === 'supranational') return []
  // The country is the fallback for a missing region.
  const refs = [...(adm1 === null || kind === 'region' ? [] : [regionRef(country, adm1)]), `iso:${country}`]
  return refs.map((ref) => ({ ref, relation: 'admin_parent' }))
}

/** Reads a code in upper or lower case, under its name in records (such as `countryCode`) or in tables (`country`). */
function readCode(raw: RawRecord, name: 'country' | 'adm1' | 'adm2'): string | null {
  const code = readText(raw, `${name}Code`) ?? readText(raw, name)
  if (code === null) return null
  if (name === 'country' && !/^[a-z]{2}$/i.test(code)) {
    throw new PlaceFormatError(`country: expected two letters such as FR, got ${JSON.stringify(code)}`)
  }
  return code.toUpperCase()
}

function readText(raw: RawRecord, key: string): string | null {
  const value = raw[key]
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string') return value
  throw new PlaceFormatError(`${key}: expected a text, got ${JSON.stringify(value)}`)
}

function readNumber(raw: RawRecord, key: string, min: number, max: number): number | null {
  const value = raw[key]
  if (value === undefined || value === null || value === '') return null
  const number = typeof value === 'string' ? Number(value) : value
  const isWhole = key !== 'population' || Number.isInteger(number)
  if (typeof number === 'number' && number >= min && number <= max && isWhole) return number
  const what = key === 'population' ? 'a whole number from 0 up' : `a number from ${min} to ${max}`
  throw new PlaceFormatError(`${key}: expected ${what}, got ${JSON.stringify(value)}`)
}

function readBox(value: unknown): PlaceRecord['bbox'] {
  if (value === undefined || value === null) return null
  if (Array.isArray(value) && value.length === 4 && value.every((entry) => Number.isFinite(entry))) {
    return [Number(value[0]), Number(value[1]), Number(value[2]), Number(value[3])]
  }
  throw new PlaceFormatError(`bbox: expected west, south, east and north, got ${JSON.stringify(value)}`)
}

function readList(raw: RawRecord, key: string): readonly RawRecord[] {
  const value = raw[key] ?? []
  if (Array.isArray(value) && value.every(isJsonObject)) return value
  throw new PlaceFormatError(`${key}: expected a list of objects, got ${JSON.stringify(value)?.slice(0, 60)}`)
}

function oneOf<T extends string>(key: string, words: readonly T[], value: unknown): T {
  const found = words.find((word) => word === value)
  if (found !== undefined) return found
  throw new PlaceFormatError(`${key}: expected one of ${words.join(', ')}, got ${JSON.stringify(value)}`)
}

function throwMissing(key: string, field: string): never {
  throw new PlaceFormatError(`${key}: an entry has no ${field}`)
}
