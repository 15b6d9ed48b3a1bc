import { franc } from 'franc-min'

/** A language of a page, and who told it. */
export interface PageLanguage {
  /** The short code of BCP 47: `en`, `zh`. */
  readonly language: string | null
  readonly source: 'page' | 'text' | null
}

/** The language of a page: what it says itself, else what the beginning of its text looks like. */
export function readLanguage(stated: string | null, text: string): PageLanguage {
  const own = stated === null ? null : shortCode(stated)
  if (own !== null) return { language: own, source: 'page' }
  const found = detectLanguage(text)
  return { language: found, source: found === null ? null : 'text' }
}

/** A tag of a language without script, region and what else it may have; null for one that names none. */
export function shortCode(tag: string): string | null {
  const [primary = ''] = tag.trim().toLowerCase().split(/[-_]/)
  if (!/^[a-z]{2,3}$/.test(primary) || NO_LANGUAGE.has(primary)) return null
  return SHORT_CODES.get(primary) ?? primary
}

/** Undetermined, several, none, and what programs write in their place. */
const NO_LANGUAGE = new Set(['und', 'mul', 'zxx', 'mis', 'xx'])

/** So much of a text is looked at; more changes nothing. */
const SAMPLE_CHARS = 2000
/** With less, names and labels decide. */
const LEAST_CHARS = 60

function detectLanguage(text: string): string | null {
  const sample = text.slice(0, SAMPLE_CHARS).replace(/\s+/g, ' ')
  const found = franc(sample, { minLength: LEAST_CHARS })
  return found === 'und' ? null : (SHORT_CODES.get(found) ?? found)
}

/** Languages of three letters that have a code of two. */
const SHORT_CODES: ReadonlyMap<string, string> = new Map(
  `amh am ara ar arb ar aze az azj az bel be ben bn bos bs bul bg cat ca ces cs cmn zh cze cs dan da deu de dut nl ell el eng en
  est et fas fa fin fi fra fr fre fr fuv ff ger de gre el guj gu hau ha heb he hin hi hrv hr hun hu hye hy ibo ig ind id isl is
  ita it jav jv jpn ja kan kn kat ka kaz kk kin rw kor ko lav lv lin ln lit lt mal ml mar mr may ms mkd mk mya my nld nl nor no
  npi ne nya ny pan pa pbu ps per fa pes fa plt mg pol pl por pt ron ro rum ro run rn rus ru sin si slk sk slv sl som so spa es
  sqi sq srp sr sun su swe sv swh sw tam ta tel te tgl tl tha th tur tr ukr uk urd ur uzn uz vie vi yor yo zho zh zlm ms zul zu`
    .split(/\s+/)
    .flatMap((code, i, codes) => (i % 2 === 0 ? [[code, codes[i + 1] ?? code] as const] : [])),
)
