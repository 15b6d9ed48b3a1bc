/** The number of a month by its name or its usual abbreviation, in lower case, in the most common languages of calendars. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    'january jan januar janvier janv enero ene gennaio gen janeiro januari jänner',
    'february feb februar février fevrier févr fevr febrero febbraio fevereiro fev februari',
    'march mar märz maerz mars marzo março marco maart',
    'april apr avril avr abril abr aprile',
    'may mai mayo maggio mag maio mei',
    'june jun juni juin junio giugno giu junho',
    'july jul juli juillet juil julio luglio lug julho',
    'august aug août aout agosto ago augustus',
    'september sep sept septembre septiembre settembre setembro',
    'october oct oktober okt octobre octubre ottobre ott outubro out',
    'november nov novembre noviembre novembro',
    'december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro',
  ].flatMap((names, index) => names.split(' ').map((name) => [name, index + 1] as const)),
)

/** Names of weekdays and similar words, in lower case: with the months, the words that differ between two dates. */
export const DAY_WORDS: ReadonlySet<string> = new Set(
  [
    'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun',
    'montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so',
    'lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim',
    'lunes martes miércoles miercoles jueves viernes sábado sabado domingo mié mie jue vie sáb sab dom',
    'lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi venerdì venerdi sabato domenica gio',
    'segunda terça terca quarta quinta sexta feira seg ter qua qui sex',
    'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo',
    'am pm today tomorrow yesterday heute morgen gestern',
  ].flatMap((names) => names.split(' ')),
)
