import { normalizeName } from './place.ts'

/** Splits a list of words and normalizes each. */
function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/).map(normalizeName))
}

/** Prepositions that precede places. */
export const STRONG_PREPOSITIONS: ReadonlySet<string> = words(`
  in near outside around across throughout within inside via visiting leaving
  a en dans pres vers chez
  im bei nach aus nahe
  cerca desde hacia em no na nos nas perto
  w we koło pod v ve u
  в во под из у біля поблизу
  στη στην στο στον στισ στα απο
  في من الي إلى قرب
  i till från nära ved nær
`)

/** Verbs that precede places. */
export const LEADING_VERBS: ReadonlySet<string> = words(
  'reached reach visited visit visits left leaves leave entered toured hit struck fled captured seized besieged invaded bombed shelled',
)

/** Prepositions that also precede people and things. */
export const WEAK_PREPOSITIONS: ReadonlySet<string> = words(`
  at from to of between entre zwischen между між
  de du des d di da do dos del della von zu zum zur für
  z ze od dla к на с от до о об для з із до
  της του των για
`)

/** Articles between a preposition and a name. */
export const ARTICLES: ReadonlySet<string> = words(
  'the la le les l der die das den dem el los las o os il lo gli η ο το την τη της του τον των τα οι',
)

/** Nouns and directions before a name that make it a place and not a person. */
export const PLACE_NOUNS_BEFORE: ReadonlySet<string> = words(`
  city town village region province state county district capital mayor central greater downtown
  northern southern eastern western north south east west inner outer metropolitan suburban
  northeast northwest southeast southwest
  ville capitale stadt hauptstadt ciudad capital cidade miasto stolica город столица місто столиця πολη
  مدينة مدينه العاصمة العاصمه שעיר בעיר עיר
`)

/** Capitalised nouns after a name that make it something at that place, and not a person. */
export const PLACE_NOUNS_AFTER: ReadonlySet<string> = words(`
  accord act academy agreement airlines airport airways arena army art attacks authority award bank basin bay beach bill
  board border bridge building business cabinet canal capital cathedral center central centre chamber championship
  championships church city climate club coast college commission committee conference congress consulate convention
  council county court crisis cup declaration defence defense department derby development district economic electric
  embassy exchange fair fashion federal festival film fire fashion force forces foreign forum foundation gallery games
  garden government governor grand gulf hall harbor harbour health heights high hills home hospital hotel house
  independent institute international island islands justice lake law league legislature library lieutenant marathon
  market mayor medical metro military ministry minister mountains municipal museum national navy office olympic olympics
  open opera palace park parliament peace peninsula people philharmonic plan planning police port power premier
  president press prime prix protocol province public rail railway region republic research review river road royal school
  science sea secretary security senate shipping social society square stadium state station stock street strip summit
  supreme symphony system tech technology theatre transit treaty tribunal tower trade union united university valley
  wall war water week west zoo fc united rovers
`)

/** Nouns for things named after a place: dishes, drinks, clothes, animals and plants. */
export const THING_NOUNS: ReadonlySet<string> = words(`
  cow cows cattle rug rugs hat hats shorts jacket jackets sweater sweaters jersey jerseys libre libres pig pigs fowl hen hens goose geese cat cats
  terrier terriers bulldog spaniel retriever nut nuts sprout sprouts bean beans pepper peppers lime limes
  lily cress chard sauce cheese ham sausage sausages steak schnitzel stew soup
  breast breasts leg legs drumstick drumsticks burger burgers bacon meatball meatballs sandwich sandwiches gravy stuffing
  cocktail cutlet tart tarts bun buns pudding mustard leather teapot
  doll dolls syndrome roulette
`)

/** Countries whose name is also a dish. */
export const DISHES: ReadonlySet<string> = words('turkey')
/** Words near the name of a dish. */
export const KITCHEN_WORDS: ReadonlySet<string> = words(`
  thanksgiving christmas cranberry cranberries roast roasted roasting oven gravy stuffing stuffed recipe recipes cook
  cooked cooking dish dishes served serve leftover leftovers sauce smoked carve carved carving ham chicken poultry beef
  pork meat meal feast farmer farmers frozen bird birds sandwich sandwiches bacon turkeys
`)

/** Country names that are also goods. */
export const GOODS: ReadonlySet<string> = words('china jersey guinea panama bermuda')

/** Path segments below which names are people or goods. */
export const NON_PLACE_SEGMENTS: ReadonlySet<string> = words(`
  author authors writer writers profile profiles user users people person staff team player players cast actor actors
  recipe recipes food foods cooking dish dishes ingredient ingredients shop store product products brand brands item items
`)

/** Whether a place name is also a person's name, an ordinary word or goods. */
export function isOrdinaryName(word: string): boolean {
  return [COMMON_WORDS, GIVEN_NAMES, SURNAMES, DISHES, GOODS].some((list) => list.has(word))
}

/** Nicknames of North American teams, which follow city names. */
export const TEAM_NOUNS: ReadonlySet<string> = words(`
  49ers angels astros athletics avalanche bears bengals bills blackhawks blazers braves brewers broncos browns bruins
  buccaneers bucks bulls canadiens canucks capitals cardinals cavaliers celtics chargers chiefs clippers colts commanders
  cowboys coyotes cubs devils diamondbacks dodgers dolphins ducks eagles earthquakes falcons flames flyers giants
  grizzlies guardians hawks heat hornets hurricanes islanders jaguars jays jazz jets kings knicks knights kraken lakers
  leafs lightning lions magic marlins mariners mavericks mets nationals nets nuggets oilers orioles packers pacers
  padres panthers patriots pelicans penguins phillies pirates pistons predators raiders rams rangers raptors ravens
  redskins rockets rockies royals sabres saints seahawks senators sharks sounders sox spurs steelers suns supersonics texans
  thunder timberwolves timbers titans twins vikings wizards yankees
`)

/** Words next to a name that make it a division of a country. */
export const DIVISION_NOUNS: ReadonlySet<string> = words(
  'state province oblast prefecture region governorate voivodeship',
)

/** Capitalised nouns after a name that make it a river, a lake, a mountain and the like, which may be anywhere. */
export const FEATURE_NOUNS: ReadonlySet<string> = words(`
  river creek brook bay sea ocean lake canyon hole falls valley mountain mountains hills peak pass county
`)

/** Capitalised nouns after a name that make it a street. Streets are also named after countries. */
export const STREET_NOUNS: ReadonlySet<string> = words(
  'street st avenue ave road rd boulevard blvd drive lane highway parkway terrace crescent',
)

/** Buildings that are named after people more often than after their place. */
export const BUILDING_NOUNS: ReadonlySet<string> = words(
  'university college school academy hospital clinic institute foundation library museum memorial prize award',
)

/** Capitalised words before a name that make it a lake, a mountain, a fort and the like, which may be anywhere. */
export const FEATURES_BEFORE: ReadonlySet<string> = words('lake mount fort cape rio camp point river')

/** Words before a name that make it another place: `New England`. */
export const RENAMING_PREFIXES: ReadonlySet<string> = words('new nueva nuevo nova novo nuova nouvelle neu latin')

/** Capitalised words after a name that make it a newspaper, which says nothing about where its news happened. */
export const PRESS_NOUNS: ReadonlySet<string> = words(`
  post times tribune herald journal gazette chronicle telegraph globe mail observer inquirer examiner mirror courier
  dispatch sun star bulletin standard sentinel register
`)

/** Words for sections of a site that follow a name in titles: `Jordan News`. */
export const TITLE_NOUNS: ReadonlySet<string> = words(`
  news politics sport sports business economy travel weather headlines latest live today opinion culture media map guide
  profile holidays hotels jobs
`)

/** Titles before the name of a person. */
export const TITLES: ReadonlySet<string> = words(`
  mr mrs ms miss dr sir dame lady lord prof professor judge justice senator sen rep congressman congresswoman captain
  capt colonel col general gen sergeant sgt lieutenant lt inspector detective officer saint aunt uncle father brother
  sister coach rev reverend pastor rabbi imam sheikh king queen prince princess duke duchess baron count
  herr frau monsieur madame mme mlle señor senor señora senora don doña pan pani господин
`)

/** Verbs whose subject is a person. */
export const SPEAKING_VERBS: ReadonlySet<string> = words(`
  said says say told tells added adds wrote writes tweeted argued argues insisted recalled joked laughed smiled replied
  explained explains admitted thinks believes married died scored sang starred tweeted posted resigned testified pleaded
`)

/** Nouns after a demonym that are not about its country: languages, dishes, breeds. */
export const FIXED_AFTER_DEMONYM: ReadonlySet<string> = words(`
  language languages lesson lessons class classes speaking speaker speakers translation grammar dictionary literature
  word words alphabet fries toast dressing press horn door doors window windows delight pastry pastries roulette bath
  shepherd bulldog terrier wolfhound cheese chocolate wax whiskey roll muffin breakfast restaurant food cuisine horn
  bean beans chard onion cabbage flu measles coffee cress lop mau blue sauce salad mustard doll dolls
`)

/** Given names, including those that are also places. */
export const GIVEN_NAMES: ReadonlySet<string> = words(`
  aaron abdul abdullah abigail abraham adam adelaide adrian ahmed aidan alan albert alejandro alessandro alex
  alexander alexandra alexandria alexei alfred ali alice alicia alison amanda amelia america amy ana anastasia anatoly
  andre andrea andreas andrei andrew andy angel angela angelina anita ann anna anne anthony antoine anton antonio
  ariel arnold arthur ashley asia audrey aurora austin barack barbara barney barry beatrice becky ben benjamin benny
  bernard bernie beth betty bill blake bob bobby bonnie boris brad bradley brandon brenda brendan brent brett brian
  bridget britney brooke brooklyn bruce bruno bryan bryce caleb calvin camilla cara carl carla carlos carmen carol
  carolina caroline casey cassandra catalina catherine cathy cecilia chad charles charlie charlotte chelsea cheyenne
  chloe chris christian christina christopher cindy claire clara clarence claude claudia clifford clint cody colin
  connor constance corey craig cristina cuba cynthia dakota dallas damon dan dana daniel daniela danielle danny darren
  darryl dave david dean deborah denis denise dennis denver denzel derek devon diana diane diego dirk dmitri dmitry
  dominic donald donna dorothy doug douglas duncan dustin dwayne dylan eddie edgar edith edmund eduardo edward edwin
  elaine eleanor elena eli elijah elisabeth elizabeth ella ellen elliot elton elvis emily emma emmanuel eric erik erin
  ernest esther ethan eugene eva evan evelyn felix fernando fiona florence frances francesca francesco francis
  francisco frank franklin fred frederick gabriel gabriela garrett gary gavin geoff geoffrey george georgia gerald
  gerard gerry gianni gina giorgio giovanni giulia giuseppe glen glenda gloria gordon graham greg gregory guillermo
  gwen hank hannah hans harold harriet harrison harry harvey hassan heather heidi helen helena helmut henri henry
  herbert hillary holly houston howard howie hugh hugo hussein ian ibrahim igor india ingrid irene iris irving isaac
  isabel isabella israel ivan jack jackson jacob jacqueline jacques jake james jamie jan jane janet jasmine jason
  jasper javier jay jean jeanne jeff jeffrey jenna jennifer jenny jeremiah jeremy jerome jerry jesse jessica jill jim
  jimmy joan joao joe joel johan johann john johnny jon jonas jonathan jordan jorge jose joseph josephine josh joshua
  joyce juan juanita judith judy julia julian julie juliet justin karen karl kate katherine kathleen kathy katie kayla
  keira keith kelly ken kendall kendra kenneth kenny kenya kerry kevin kim kimberly kirk kirsten klaus krista kristen
  kristin kurt kyle lana lance lara larry laura lauren laurence lawrence leah lee lena leo leon leonard leonardo
  leonid leroy leslie lester lewis lincoln linda lindsay lindsey lisa liz lloyd logan lois lola lorena lorenzo loretta
  lorna lorraine louis louise lourdes lucas lucia lucy luis luke luther lydia lyle lynn mabel madeleine madison maggie
  malcolm mandy manuel marc marcel marcia marco marcos marcus margaret margot maria marie marilyn marina mario marion
  marjorie mark marlene marsha martha martin martina marty marvin mary matt matthew maureen maurice max maxim maya
  megan melanie melissa meryl mia michael michel michelle mick miguel mike mikhail milan milo miranda mitch mohamed
  mohammad mohammed molly mona monica morgan moses muhammad myra nancy naomi natalia natalie natasha nathan ned neil
  nelson nicholas nick nicola nicolas nicole nigel nikita nina noah noel nolan nora norma norman olga oliver olivia
  omar orlando oscar otis otto owen pablo paige pamela paolo paris patricia patrick paul paula pauline pedro peggy
  penelope percy pete peter petra phil philip philippe phoebe phoenix phyllis pierre polly preston priscilla quentin
  quinn rachel ralph ramon randall randy raul raymond rebecca reggie regina rene rex rhonda ricardo richard rick ricky
  rita rob robbie robert roberta roberto robin rodney rodrigo roger roland ron ronald rory rosa rosemary rosie ross
  roxanne roy ruben rudy rufus russell ruth ryan sabrina sadie sally salma salvador sam samantha samuel sandra
  santiago sara sarah sasha saul savannah scarlett scott sean sebastian serena sergei sergey seth shane shannon sharon
  shaun shawn sheila shelley sherry shirley sidney silvia simon simone sofia sonia sophia sophie stacey stan stanley
  stefan stella stephan stephanie stephen steve steven stuart susan suzanne sven sydney sylvia tamara tammy tanner
  tanya tara tasha taylor ted teresa terry tess tessa thelma theodore theresa thomas tiffany tim timothy tina toby
  todd tom tommy tony tracey tracy trevor trinidad tristan troy tyler tyrone ursula valencia valentina valeria valerie
  vanessa venus vera verona veronica vicki victor victoria vienna vince vincent virgil virginia vivian vladimir
  wallace walter wanda warren wayne wendy wes wesley whitney wilbur wilfred wilhelm william willie winston wyatt
  xavier yasmin yolanda yuri yvette yvonne zach zachary zack zoe
  александр алексей анатолий андрей анна антон борис валентина василий вера виктор виктория виталий владимир вячеслав
  галина георгий григорий денис дмитрий евгений екатерина елена иван игорь ирина кирилл константин ксения лев леонид
  людмила максим марина мария михаил наталья никита николай оксана олег ольга павел петр роман светлана сергей степан
  татьяна тимофей федор юлия юрий яков
`)

/** Surnames that are also place names. */
export const SURNAMES: ReadonlySet<string> = words(`
  abbott adams allen anderson armstrong atkinson austin bacon bailey baker barnes barton bell bennett benson benton berg
  berry bishop black blair bolton boone bowie bradford bradley brown burke burns burton bush butler byron calhoun
  cameron campbell carlisle carson carter castro chase churchill clark clay clayton cleveland clinton cohen coleman
  collins columbus cook cooper cox crawford cruz curtis dalton darwin davidson davis dawson dayton decatur dixon dole
  douglas doyle drake dudley duncan dunn durham edison elliott ellis emerson evans everett ferguson fischer fisher
  fleming fletcher ford foster fox franklin fraser freeman fulton gardner garfield garland gibson gilbert glenn gomez
  gonzalez gordon graham grant gray green greene griffin hale hamilton hancock harper harris harrison hart hastings hayes
  henderson henry hill hilton holland holmes hood hoover hopkins houston howard hudson hughes hunt hunter huntington
  irving jackson james jefferson jenkins jensen johnson johnston jones jordan keller kelly kennedy kent kerry king knight
  knox kramer lambert lancaster lawrence lee lewis lincoln lloyd logan london long lopez lucas lynch macdonald macon
  madison marshall martin martinez mason mcallen mckinney mckinley melbourne mercer meyer miller milton mitchell monroe
  montgomery moore morales morgan morris morrison morton murphy murray nash nelson newman newton nixon nobel norman
  norris norton obama oliver orlando owen page palmer parker patterson payne perez perry pierce pitt polk porter powell
  preston price quincy ramirez reagan reed regan reid reynolds rice richards richardson riley rivera roberts robinson
  rodriguez rogers romero romney roosevelt ross russell ryan salazar sanchez sanders santana santos sharp shaw shelby
  sheldon shelton sheridan sherman simpson sinclair smith spencer stafford stanley stanton stevens stewart stone stuart
  sullivan sutton taylor temple thompson torres trenton truman trump turner tyler tyson underwood vance vega wagner walker
  wallace ward warner warren washington watson wayne webb weber webster wellington wells west wheeler white whitman
  williams wilson windsor winston wolfe wood woods woolf wright york young
`)

/** Words that are almost never a place: months, days, function words of the larger languages. */
export const FUNCTION_WORDS: ReadonlySet<string> = words(`
  states
  january february march april may june july august september october november december mon tue wed thu fri sat sun
  monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday
  a an the this that these those he she it they we you i his her its their our my your who what which when where why how
  all any both each few more most other some such no nor not only own same so than too very can will just should now
  and but or if because as until while of at by for with about against between into through during before after above
  below to from up down in out on off over under again further then once here there be been being is are was were have
  has had do does did would could may might must shall also even still yet never always often much many one two three
  four five six seven eight nine ten first last next said says see get got make made take go going come let put use
  le la les un une des du de et ou mais donc or ni car que qui dont ce cet cette ces mon ton son nous vous ils elles
  est sont dans par pour sur avec sans sous plus bien tout tous toute apres avant entre selon mai mars juin aout
  der die das den dem ein eine einer eines und oder aber doch sie wir ihr ist sind war waren hat haben wird werden nicht
  auch nur noch schon mit von zu bei nach aus vor wie was wer wo wenn als dass sein seine ihre alle viel mehr man
  el los las una unos unas y o pero si no que como cuando donde quien este esta estos estas ese esa aquel su sus mi tu
  es son era fue ser estar ha han por para con sin sobre entre hasta desde muy mas menos ya todo toda todos uno dos tres
  o os as um uma e ou mas se nao que como quando onde quem este esta isso seu sua foi sao ser com sem sobre ate muito
  mais menos ja tudo todo sol mar sur norte este oeste
  il lo gli uno una che chi non per con su tra fra ma anche come quando dove questo questa sono era
  ve bir bu da de ile icin daha cok ne var yok ben sen biz siz onlar ama gibi
  i w z na do sie nie to jest ze jak o po za od dla przez przy czy tak juz co ale
`)

/** Abbreviations that always mean a country or the European Union when they are in capitals. */
export const SAFE_ABBREVIATIONS: ReadonlySet<string> = words(
  'us usa uk uae eu drc prc ussr сша оаэ рф кнр кндр фрг ηπα',
)

/** Words that are common in lower case and are also place names; as a place they need more evidence than a capital letter. */
export const COMMON_WORDS: ReadonlySet<string> = words(`
  ado advance agar aix aka alliance along alpha alter amber angel angle angles anno anon antique apache apple
  apples apt arc arch are area arena arenas aroma arrow art ash ask assumption autumn awe bacon bad badger bag
  bail baker ball bamboo ban band bank banks banner bar barber bas base basic bat bath battle battlefield bay
  beach bear began begun bel bell bells bend bender best bias bid big bigger biking billed bin bishop bites black
  blacks blades bland blue blur bologna bon bona bond bone boom boon boot born bottom bowling box bra brain brains
  branch brand brick bride bridge bright brilliant brook brown brush bucks buffalo bull bun burns bus but butler
  buy cabin cache cafe cal calcium caller camp camps can canal candle cant canyon carbon cardigan carry cars
  carter cascade cash casino cast castle cat cave cedar celebration center central centre century chair
  champagne champion chance change chard charge chase cheddar cherry chi chief chunking church circle cite citrus
  city clay clear clerk clever cliff clones cloud clover coal coats cobalt coin college colon combine come comet
  comfort comma commerce communal competition compound congress constitution contention continental converse
  conversion cook cooks cool cooling cooper cope cork corn cottage couches country county court cross crow crown
  crystal curtis cut dairy damp date dawn day days deal deep defiance delay delta democrat deposit derby desert
  dial diamond die dig digne dilly dim dire dis discovery dives divide dogs dollar dolphin dom doom dosing
  downtown drag drain drains drama dream driver drone drug dry dual due duke dusty dutch eagle early east echo
  economy eden edge effort egg elm empire energy enterprise equality era erection erode eureka experiment eye
  fairy faith fall falls far fare farmer farmers farms fate federal fell ferry field fields fire fiscal fisher
  flag fleet flint floss flower flushing fly fonts force ford forest forks fort forth fortune fox freedom friend
  friendly friendship from front frost fully fussy gaming gamma gap garden gardens gate gates gateway gel general
  gentry gets gif gift give glad glass glide globe glory god goes going gold golden gone good goto grace grain
  grand granite grants grass gravity gray green greens grit gross grove grub guard guessing guide guido gums hale
  halfway hall hang harbor harbour hard harmony harvest hatch haven hawk hay hazard healing heath heel helper hem
  hemp hero hill hills hinges hit holder hole holiday holly home hone honey honor hood hook hooks hope horizon hot
  house houses hull hum human humble hunt hunter hurt iana imperial incline independence industry ins iron island
  ivy jade jam jar jet jewel job journal joy jump just justice kale kall kami keen key kill kit knees label labor
  laces lack lady lag lake land lander landing lane lark laser lattes laurel law lawn lay lazy lead leaf legal
  lemon lens leo lessen liberal liberty lid lie light lil lily lime limit line linen lint lion list lit lively
  lock locking lodge lodi log logos lone long look loop lot love loves loving loyal luck lucky made magenta magna
  magnet main major male males man manage many maple marathon marble march marco mari marine market marks
  marlin marques mason matador maximum may meadow means media mega men mentor mercury mere merit mess meta metal
  meter metro metropolis mile miles mill miller mills min mind mine mineral minister minor minus mio mission moa
  mobile model modern mon monarch money monster moody moon moral more morning moss most mother mount mountain much
  name nan nation national native nectar needle nest never new newcomers nice nickel night noble noisy none normal
  north nut oak oaks occasion ocean off oil okay old olive olympic omega one onyx opal opera opportunity oracle
  oral orange outer outlook over oversee owl pace pacific pack page palm palms pan pao papaya paper par paradise
  paramount park passage pasta paste peace peak pearl peculiar peer pen penny people per permet pets phoenix phone
  piano pies pile pill pilot pin pine pink pioneer plain plains plan planet plant plate plaza pleasant plenty plum
  plunge plus point poking police poll polling pond pool pop port poses post power prairie pre presidio price
  pride prime prince princess pristine proctor progress promise propel prospect protection proven providence
  public punch purchase purdue purus puskin put quarry que queen quel race rain rainbow ran ranch rand rapid raven
  ray rayon reach reading real rebel recluse recovery red reform republic rescue research reserve reservoir rest
  retreat rice rich rid ride rider ridge riding ring rise river rivers road robin rock rocks rodent roles roof
  root rose rosemary rot row royal ruby rude rugby rule run rural rush sacred saddle said sail saint saja sake
  sale sales salmon salon salt same sanctuary sand sandwich sandy sardine sauce save say scarlet scenic school
  science scout sea seal season second sector sedan see seed seen sees sell sells sem semi senate send senior
  sentinel service set settle shadow shape shaping share sharp sharpness she sheep shell shelter shield shields
  ship shop shore shortens shot side sierra silly silos silver since sing singleton sister ski sky slashes slate
  slide smart smith smoke snow society soda soldier sole solid solo son song sort soul source south spa spark spas
  spear speed spirit split spoken sport spring springs square stable stage stains stall stamps standard staples
  star stark state station steam steel steps sterling still stock store storm story stow strand strawberry stream
  street strong style success sugar sulphur sumber summer summit sun sunflower sunny sunrise sunset sunshine
  superior supreme surf surges surprise swallow swan sweet tab table tactic taking tale talent tall tally
  tangerine tank tap tape tapes tapping taps tar target tea telegraph tell temperance temple ten tenon tent
  terminal than theater thermal thunder tide tiers tiger till tilt time tin tiny tiring title toast today tomato
  ton tone tongue tool top torch torn touch tour tours tower town trade trail train trainer transfer transit trap
  tray treasure tree triangle trim trinity trip triumph troy trumpet truth tulip tune tunes tunnel turn twin twist
  uncertain union unity universal upper urban used uses vale valley valour vanguard vary velvet venus veteran vice
  victor victory view viking villa village vine violet virtue vision vista volcano volunteer wagon wait waits wake
  walk walker wall walls walnut war ware warm warrior washer watch water watt wave wax ways weather wedding weed
  week welcome well wells university canon rust rusty west wheel white whites widow wild wind wine wines winner winter winters wisdom wise
  wish wolf wonder wood woods wool work world worth wrangle yellow young zero zone
  pest pests english welsh scottish delta alpha beta cocoa free google amazon target chase harvard
  essen halle singen weil wissen laufen bad stade hof lage ehe werben fulda arbeit leben recht rat tag weg ort haus kirche
  berg tal burg feld wald see hagen baden trier
  tours nancy lens sens pau vire bon bonne belle grand petit mer pont port vent vienne die gap dole sete orange lure
  progreso libertad nacional union justicia reforma valle rosario carmen dolores mercedes soledad concepcion esperanza
  victoria leon toro reyes flores paz luz cruz santos natal vitoria bela vista rica alta baja
  ordu mus van batman of sinop mersin bor
  мир орел слава победа свет труд новый старый красный белый дружба звезда заря восток запад юг север октябрь
`)
