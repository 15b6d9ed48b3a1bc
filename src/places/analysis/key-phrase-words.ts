import { isStopWord } from '../../core/text/stop-words.ts'

/** Whether a word is a stop word, which says nothing about a text's topic. */
export type StopWordTest = (word: string) => boolean

/**
 * Creates the test for stop words of a language. In a language without a list, stop words are very short words, and fairly short words that
 * are very frequent in the text: `counts` has the occurrences of each word, and `total` is their sum.
 */
export function createStopWordTest(
  language: string | null,
  counts: ReadonlyMap<string, number>,
  total: number,
): StopWordTest {
  if (language === 'en')
    return (word) => isStopWord(word.replaceAll("'", '')) || ENGLISH_STOP_WORDS.has(word) || word.length < 2
  if (language === 'ko') return (word) => word.length < 2 || KOREAN_STOP_WORDS.has(word) || KOREAN_VERB.test(word)
  const list = language === null ? undefined : STOP_WORD_LISTS.get(language)
  if (list !== undefined) return (word) => list.has(word) || word.length < 2
  return (word) =>
    word.length <= MAX_SHORT_WORD_CHARS ||
    (word.length <= MAX_FREQUENT_WORD_CHARS && (counts.get(word) ?? 0) > total * FREQUENT_SHARE)
}

const MAX_SHORT_WORD_CHARS = 3
const MAX_FREQUENT_WORD_CHARS = 6
const FREQUENT_SHARE = 0.01

/** A Korean word without its trailing particle, if at least two syllables remain. */
export function withoutParticle(word: string): string {
  return word.replace(KOREAN_PARTICLE, '')
}

const KOREAN_PARTICLE =
  /(?<=\p{Script=Hangul}{2})(?:에서는|에서도|에서|에게|에는|에도|으로는|으로|까지|부터|보다|처럼|이라고|라고|은|는|이|가|을|를|의|과|와|도|에|로|만)$/u
/** Endings of Korean verbs, at the end of a sentence or before a noun. */
const KOREAN_VERB = /(?:다|하는|되는|있는|없는|하고|하며|되고|했던|위한|대한|관한|통한|따른)$/u
const KOREAN_STOP_WORDS: ReadonlySet<string> = new Set(
  `그리고 그러나 하지만 그런데 따라서 또한 또는 이번 지난 지난해 올해 내년 오늘 어제 내일 그는 그녀 우리 이는 이를 이런 그런 저런 이것 그것
  위해 위해서 대해 대해서 통해 따라 함께 모두 다시 이미 아직 가장 매우 정말 때문 경우 정도 이후 이전 당시 현재 최근 이날 동안 한편 특히
  그대로 바로 역시 여러 다른 같은 많은 모든 어떤 새로운 관련 가운데 이상 이하 약간 사이 것으로 것이`.split(/\s+/),
)

/** English words that belong to no useful phrase, although users may search for them. */
const ENGLISH_STOP_WORDS: ReadonlySet<string> = new Set(
  `said says say saying told tell tells according added adds like likely lot lots many several get gets got getting go goes going
  gone went come comes came make makes made making take takes took taken taking give gives gave given see sees seen saw know knows
  knew known think thinks thought want wants wanted need needs needed use uses used using let lets put puts keep keeps kept find
  finds found become becomes became seem seems seemed look looks looked work works worked working help helps helped show shows
  showed shown try tries tried ask asks asked call calls called start starts started begin begins began end ends ended leave left
  bring brings brought hold holds held turn turns turned run runs ran move moves moved live lives lived believe happen happens
  happened provide provides provided include includes included including continue continues continued set sets allow allows
  allowed lead leads led follow follows followed stop create creates created read reads open opens opened grow grows grew grown
  offer offers offered remain remains remained expect expects expected new old good better best big bigger great high higher low
  lower large larger small smaller long longer short early late later recent recently last next first second third one two three
  four five six seven eight nine ten another others well still even now today yesterday tomorrow ago back away around along across
  almost already always never often sometimes usually soon later less least enough else instead maybe able sure thing things way
  ways time times day days week weeks month months year years part parts number kind sort bit case point fact mr mrs ms dr
  january february march april june july august september october november december monday tuesday wednesday thursday friday
  saturday sunday feel feels felt write writes wrote written different whose whom ve re ll don didn doesn isn wasn won`.split(
    /\s+/,
  ),
)

const STOP_WORD_LISTS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    de: `aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim bereits bis
      bin bist da dabei damit dann das dass daß davon dazu dein dem den denn der des deshalb dessen die dies diese diesem diesen
      dieser dieses doch dort du durch ein eine einem einen einer eines einige er es etwa etwas euch für gegen gibt hab habe haben
      hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im immer in ins ist ja jede jedem jeden jeder
      jedes jedoch jetzt kann kein keine keinen können könnte laut lassen machen man mehr mehrere mein mit muss müssen nach nicht
      nichts noch nun nur ob oder ohne schon sehr sei sein seine seinem seinen seiner seit selbst sich sie sind so sogar soll
      sollen sollte sondern sowie über um und uns unser unter viel viele vom von vor wann war waren warum was weil weiter welche
      wenn wer werden wie wieder will wir wird wo wollen worden wurde wurden würde zu zum zur zwar zwei zwischen sagte neue neuen
      neuer ersten jahr jahre jahren prozent uhr`,
    fr: `a à afin ai ainsi alors après as au aucun aussi autre autres aux avait avant avec avoir c car ce ceci cela ces cet cette
      ceux chaque chez comme contre d dans de depuis des deux donc dont du elle elles en encore entre est et été être eu fait faire
      faut fois font hors ici il ils j je jusqu l la là le les leur leurs lors lui m ma mais me même mes moins mon n ne ni non nos
      notre nous on ont ou où par parce pas pendant peu peut plus plusieurs pour pourquoi qu quand que quel quelle quelles quels
      qui s sa sans se selon sera ses si son sont sous sur t ta te tes toujours tous tout toute toutes très trop tu un une va vers
      voir vos votre vous y ans année années nouveau nouvelle jour jours première premier`,
    es: `a al algo algunas algunos ante antes así aún aunque cada casi como con contra cual cuando de del desde después donde dos e
      el él ella ellas ellos en entre era eran es esa esas ese eso esos esta está están estas este esto estos fue fueron ha había
      han hasta hay la las le les lo los más me mediante mi mientras mis mismo mucho muy nada ni no nos nosotros nuestra nuestro o
      otra otras otro otros para pero poco por porque pues que qué quien se sea según ser si sí sido sin sobre solo son su sus
      también tan tanto te tiene tienen toda todas todo todos tras tu un una unas uno unos usted y ya yo año años día días nueva
      nuevo primera primer`,
    it: `a ad agli ai al alla alle allo anche ancora avere c che chi ci ciò come con contro cui d da dagli dai dal dalla dalle
      dallo degli dei del dell della delle dello di dopo dove due e è ed era essere fa fino fra gli ha hanno ho i il in io l la le
      lei li lo loro lui ma mai me meno mentre mi mio molto ne negli nei nel nell nella nelle nello no noi non nostra nostro o ogni
      oltre ora per perché però più poi prima può qualche quale quando quanto quella quelle quelli quello questa queste questi
      questo qui se sempre senza si sia siamo sono sopra sotto stata stati stato su sua sue sugli sui sul sull sulla sulle suo suoi
      tra tutta tutte tutti tutto un una uno va vi voi anni anno giorni giorno nuova nuovo`,
    pt: `a à ao aos após as às até cada com como contra da das de dela dele depois desde do dois dos duas e é ela elas ele eles em
      entre era essa essas esse esses esta está estão estas este estes eu foi foram há isso isto já la lhe mais mas me mesmo meu
      minha muito na não nas nem no nos nós nossa nosso num numa o onde os ou outra outras outro outros para pela pelas pelo pelos
      pode por porque pouco qual quando que quem se seja sem sendo ser seu seus sobre sua suas também tem têm ter toda todas todo
      todos tu um uma umas uns você anos ano dias dia nova novo primeira primeiro`,
    nl: `aan achter al alle als altijd andere bij binnen daar dan dat de deze die dit doen door drie dus echter een eens eerste en
      er ge geen geweest haar had hadden heb hebben heeft hem het hier hij hoe hun ik in is ja je kan kon kunnen maar me meer met
      mij mijn moet moeten na naar niet niets nog nu of om omdat ondanks onder ons ook op over per sinds te tegen ten ter tijdens
      toch toen tot twee u uit uw van vanaf veel volgens voor want waren was wat we wel welke werd werden wie wij worden wordt zal
      ze zei zich zij zijn zo zou zouden jaar jaren dag dagen nieuwe`,
  }).map(([language, words]) => [language, new Set(words.split(/\s+/))] as const),
)

/** Whether a lower-case word cannot end a useful phrase: most adverbs and past participles. */
export function isBadPhraseEnd(word: string): boolean {
  return word.length > 4 && BAD_PHRASE_END.test(word) && !GOOD_PHRASE_ENDS.has(word)
}

const BAD_PHRASE_END = /(?:ly|[^e]ed)$/
const GOOD_PHRASE_ENDS: ReadonlySet<string> = new Set(
  'family supply assembly monopoly anomaly hundred infrared reply'.split(' '),
)

/** Words that join names: `Bank of England`, `Rio de Janeiro`. */
export const NAME_CONNECTORS: ReadonlySet<string> = new Set(
  'of de del du des da do dos di della von van der'.split(' '),
)
