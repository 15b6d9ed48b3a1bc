import type { PageSignals } from './page-signals.ts'
import { countSentences } from './prose.ts'

const SCRIPT_REQUESTS =
  /\b(?:enable|activate|requires?|needs?|turn on|without|support(?:s|ed)?|aktivieren|activer|activez|habilit\w+|activar?|abilita\w*)\b.{0,40}\bjava ?script\b|\bjava ?script\b.{0,60}\b(?:enabled?|required|disabled|aktivieren|benötigt|requis|necesario|off)\b|(?:включите|включить).{0,20}javascript|javascript.{0,20}有効/i
const LOADING_TEXT =
  /^(?:loading|please wait|wird geladen|chargement|cargando|caricamento|загрузка|読み込み中|加载中)?[\s.…]*$/i

/** Words that address the reader, in contrast to a text about scripts. */
const READER_WORDS =
  /\b(?:please|to (?:continue|run|view|use|proceed)|this (?:site|app(?:lication)?|page|website)|sorry|you|requires?|must)\b/i

const WORD = /[\p{L}\p{N}]/u

/** Maximum length of the text on a page that scripts will fill. */
const MAX_SHELL_CHARS = 200

/** Detects a page without readable content until its scripts have run. */
export function findAppShell(signals: PageSignals): string | undefined {
  const { visibleText, noscript, contentLength, hasEmptyRoot, scripts, sources, scriptLength } = signals
  const hasScripts = sources !== '' || scripts.trim() !== ''
  if (!hasScripts) return undefined
  if (contentLength > 0 && contentLength < MAX_SHELL_CHARS && !signals.hasPicture && !WORD.test(signals.content)) {
    return 'the content has no words'
  }
  if (visibleText.length > MAX_SHELL_CHARS) {
    // The page has navigation and a footer, and scripts draw only the content.
    return hasEmptyRoot && signals.lengthWithoutChrome < 20
      ? 'the element for the content is empty until scripts fill it'
      : undefined
  }
  const isTitled = signals.heading !== '' && signals.heading.length < contentLength
  const isScriptRequest = SCRIPT_REQUESTS.test(visibleText) && !(isTitled && !READER_WORDS.test(visibleText))
  if (isScriptRequest || (SCRIPT_REQUESTS.test(noscript) && countSentences(signals.content) === 0)) {
    return 'asks for JavaScript and shows nothing else'
  }
  if (hasEmptyRoot) return 'an empty element that scripts fill'
  if (LOADING_TEXT.test(visibleText)) return 'scripts and no text'
  return scriptLength > 50 * visibleText.length && scriptLength > 10_000 && contentLength < 50
    ? 'long scripts and hardly any text'
    : undefined
}

/** A text without the sentences that ask for scripts. */
export function withoutScriptRequests(text: string): string {
  return text
    .split(/(?<=[.!?。])\s*/)
    .filter((sentence) => !SCRIPT_REQUESTS.test(sentence))
    .join(' ')
}
