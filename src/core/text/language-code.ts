/** A language tag without script, region and extensions; null for a tag that names no language. */
export function primaryLanguageOf(tag: string): string | null {
  const [primary = ''] = tag.trim().toLowerCase().split(/[-_]/)
  if (!/^[a-z]{2,3}$/.test(primary) || NO_LANGUAGE.has(primary)) return null
  return toTwoLetterCode(primary)
}

/** Codes that name no language: undetermined, several languages, no language, uncoded, and a common placeholder. */
const NO_LANGUAGE = new Set(['und', 'mul', 'zxx', 'mis', 'xx'])

/** The two-letter code of a three-letter code in the table below; any other code is returned unchanged. */
export function toTwoLetterCode(code: string): string {
  return SHORT_CODES.get(code) ?? code
}

/** Whether a code is one of the two-letter codes in the table below. */
export function isKnownTwoLetterCode(code: string): boolean {
  return TWO_LETTER_CODES.has(code)
}

/** Two-letter codes by three-letter code. */
const SHORT_CODES: ReadonlyMap<string, string> = new Map(
  `amh am ara ar arb ar aze az azj az bel be ben bn bos bs bul bg cat ca ces cs cmn zh cze cs dan da deu de dut nl ell el eng en
  est et fas fa fin fi fra fr fre fr fuv ff ger de gre el guj gu hau ha heb he hin hi hrv hr hun hu hye hy ibo ig ind id isl is
  ita it jav jv jpn ja kan kn kat ka kaz kk kin rw kor ko lav lv lin ln lit lt mal ml mar mr may ms mkd mk mya my nld nl nor no
  npi ne nya ny pan pa pbu ps per fa pes fa plt mg pol pl por pt ron ro rum ro run rn rus ru sin si slk sk slv sl som so spa es
  sqi sq srp sr sun su swe sv swh sw tam ta tel te tgl tl tha th tur tr ukr uk urd ur uzn uz vie vi yor yo zho zh zlm ms zul zu`
    .split(/\s+/)
    .flatMap((code, i, codes) => (i % 2 === 0 ? [[code, codes[i + 1] ?? code] as const] : [])),
)

const TWO_LETTER_CODES: ReadonlySet<string> = new Set(SHORT_CODES.values())
