import { TextDecoder } from 'node:util'

/** Code pages by font character set. */
const BY_CHARSET: ReadonlyMap<number, number> = new Map([
  [77, 10_000],
  [128, 932],
  [129, 949],
  [134, 936],
  [136, 950],
  [161, 1253],
  [162, 1254],
  [163, 1258],
  [177, 1255],
  [178, 1256],
  [186, 1257],
  [204, 1251],
  [222, 874],
  [238, 1250],
])

const LABELS: ReadonlyMap<number, string> = new Map([
  [437, 'ibm866'],
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [10_000, 'macintosh'],
  [65_001, 'utf-8'],
])

/** The code page of a font, or that of the document if the font has none. */
export function codePageOf(charset: number, documentPage: number): number {
  return BY_CHARSET.get(charset) ?? documentPage
}

const decoders = new Map<number, TextDecoder>()

/** Decodes bytes of a code page. */
export function decodePage(bytes: Uint8Array, page: number): string {
  let decoder = decoders.get(page)
  if (decoder === undefined) {
    decoder = createDecoder(page)
    decoders.set(page, decoder)
  }
  return decoder.decode(bytes)
}

function createDecoder(page: number): TextDecoder {
  const label = LABELS.get(page) ?? (page >= 1250 && page <= 1258 ? `windows-${page}` : 'windows-1252')
  try {
    return new TextDecoder(label)
  } catch {
    return new TextDecoder('windows-1252')
  }
}

/** Languages by Windows language id. */
const LANGUAGES: ReadonlyMap<number, string> = new Map([
  [1025, 'ar-SA'],
  [1028, 'zh-TW'],
  [1029, 'cs-CZ'],
  [1030, 'da-DK'],
  [1031, 'de-DE'],
  [1032, 'el-GR'],
  [1033, 'en-US'],
  [1034, 'es-ES'],
  [1035, 'fi-FI'],
  [1036, 'fr-FR'],
  [1037, 'he-IL'],
  [1038, 'hu-HU'],
  [1040, 'it-IT'],
  [1041, 'ja-JP'],
  [1042, 'ko-KR'],
  [1043, 'nl-NL'],
  [1044, 'nb-NO'],
  [1045, 'pl-PL'],
  [1046, 'pt-BR'],
  [1048, 'ro-RO'],
  [1049, 'ru-RU'],
  [1053, 'sv-SE'],
  [1055, 'tr-TR'],
  [1058, 'uk-UA'],
  [1066, 'vi-VN'],
  [2052, 'zh-CN'],
  [2055, 'de-CH'],
  [2057, 'en-GB'],
  [2070, 'pt-PT'],
  [3079, 'de-AT'],
  [3081, 'en-AU'],
  [3082, 'es-ES'],
  [4105, 'en-CA'],
])

/** BCP 47 code of a language; null for an uncommon one. */
export function languageOf(number: number): string | null {
  return LANGUAGES.get(number) ?? null
}
