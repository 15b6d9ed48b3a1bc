import type { LearnedPattern } from '../../library/ports/findings.ts'
import type { SiteSection } from './sections.ts'
import { confidenceOf, roleOf, type Shape } from './shapes.ts'
import { type Slot, writeHubUrl, writeSlotPattern } from './slot.ts'

/** Patterns, sections and shapes learned from a site. */
export interface LearnedSite {
  /** Slots of countries, or of the regions of one country. */
  readonly hubSlots: readonly Slot[]
  /** Slots of other places, such as cities. */
  readonly placeSlots: readonly { readonly slot: Slot; readonly kind: string }[]
  readonly sections: readonly SiteSection[]
  readonly shapes: readonly Shape[]
}

/** Limit of patterns that are reported and stored. */
const MAX_PATTERNS = 60
const MAX_EXAMPLES = 3
/** Matches a pattern with a place slot. */
const PLACE_SLOT = /\{(?:country|region|city|place)\}/

/** The patterns to report and store: those of places first, then sections, then the most frequent shapes. */
export function listPatterns({ hubSlots, placeSlots, sections, shapes }: LearnedSite): LearnedPattern[] {
  const patterns = new Map<string, LearnedPattern>()
  const add = (pattern: Omit<LearnedPattern, 'confidence'>) => {
    const { seen, hits, misses } = pattern
    if (patterns.size >= MAX_PATTERNS || patterns.has(pattern.pattern)) return
    patterns.set(pattern.pattern, { ...pattern, confidence: confidenceOf(seen, hits, misses) })
  }
  for (const slot of hubSlots) add(describeHubs(slot))
  for (const { slot, kind } of placeSlots) {
    const examples = [...slot.otherWords].slice(0, MAX_EXAMPLES).map((word) => writeHubUrl(slot, word))
    add({
      pattern: writeSlotPattern(slot, kind),
      role: 'place-hub',
      seen: slot.counts.seen,
      hits: 0,
      misses: 0,
      examples,
    })
  }
  if (sections.length > 0) add(describeSections(sections))
  const placeShapes = new Set(Array.from(patterns.keys(), (pattern) => pattern.replace(PLACE_SLOT, '{slug}')))
  for (const shape of shapes) {
    // A single address is not a pattern, and a place pattern is not repeated as a shape.
    if (shape.pattern.includes('{') && !placeShapes.has(shape.pattern)) add(describeShape(shape))
  }
  return [...patterns.values()]
}

function describeHubs(slot: Slot): Omit<LearnedPattern, 'confidence'> {
  const hubs = [...slot.hubs.values()]
  return {
    pattern: writeSlotPattern(slot),
    role: 'place-hub',
    seen: hubs.filter(({ isGuess, origin, state }) => !isGuess || origin === 'listed' || state === 'confirmed').length,
    hits: hubs.filter(({ state }) => state === 'confirmed').length,
    misses: hubs.filter(({ state }) => state === 'missing' || state === 'rejected').length,
    examples: hubs.slice(0, MAX_EXAMPLES).map(({ url }) => url),
  }
}

function describeSections(sections: readonly SiteSection[]): Omit<LearnedPattern, 'confidence'> {
  const fronts = sections.flatMap(({ frontUrl }) => frontUrl ?? [])
  return {
    pattern: '/{section}',
    role: 'section',
    seen: sections.length,
    hits: fronts.length,
    misses: 0,
    examples: fronts.slice(0, MAX_EXAMPLES),
  }
}

function describeShape(shape: Shape): Omit<LearnedPattern, 'confidence'> {
  const { pattern, seen, articles, hubs, others, misses, examples } = shape
  const role = roleOf(shape)
  const hits = role === 'article' ? articles : role === 'topic-hub' ? hubs : others
  return { pattern, role, seen, hits, misses, examples }
}
