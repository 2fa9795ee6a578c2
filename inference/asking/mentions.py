"""Tell from the words around an option whether a text chooses it: asserted, denied, reported or open.

What the states mean stands in `text_answers`. Words are lower case, apostrophes straight, emphasis marks removed.
"""

from __future__ import annotations

import re

from inference.asking import stances

# Scripts without spaces: Thai, Lao, Burmese, Khmer; kana, Han, their punctuation and extensions.
SPACELESS_SCRIPTS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3190-\uabff\uf900-\ufaff\U00020000-\U0003ffff"
)
_SPACELESS = rf"{SPACELESS_SCRIPTS}\u1100-\u11ff\u3130-\u318f\uac00-\ud7ff"  # and Hangul, where endings follow a word
KATAKANA = "\u30a1-\u30fa\u30fc"
JAPANESE_LETTERS = rf"\u3041-\u3096{KATAKANA}\u3005\u3400-\u9fff"
CHARACTER = rf"[^\W_{_SPACELESS}]"
HANGUL = "\uac00-\ud7a3"
LETTER = rf"[^\W\d_{_SPACELESS}]"

# "There is no doubt that I agree", "je suis sans aucun doute d'accord", "non posso che essere d'accordo" deny nothing.
_NEGATION = (
    r"not(?!\s+(?:only|just|merely|simply)\b)|\w*n't|cannot|cant|dont|wont"
    r"|no(?!,|\s+(?:i|s[oó]lo|solamente|doubts?|question\s+that"
    r"|(?:(?:hay|cabe|tengo)\s+)?(?:(?:la\s+)?(?:menor|ninguna)\s+)?dudas?"
    r"|pued[eo]\s+(?:m[aá]s\s+que|estar\s+m[aá]s))\b)"
    r"|none|nobody|nothing|never|neither|nor|hardly|barely|scarcely|rarely"
    r"|without(?!\s+(?:an?\s+|any\s+)?(?:doubt|hesitation|question|reservation))|unable|refus(?:e|es|ed|ing)"
    r"|declin(?:e|es|ed|ing)|fail(?:s|ed)?|avoid(?:s|ing)?|refrain(?:s|ing)?"
)
# Of the European languages that Waver asks in: German, French, Spanish ("no" as above) and Italian, Dutch. Of words
# that are English, too, those of another language must follow.
_EUROPEAN_NEGATION = (
    r"nicht(?!\s+(?:nur|anders\s+als)\b)|nichts|nie|niemals|niemand"
    r"|kein(?:e[nmrs]?|eswegs|esfalls)?(?!\s+(?:zweifel|problem|wunder)\b)|weder|kaum|mitnichten"
    r"|schwer(?:lich)?|schwierig|unmöglich|weigere|lehne(?=[^(]*\bab\b[^(]*$)|davon\s+entfernt|alles\s+andere\s+als"
    r"|ne(?=\s+saurai[st]\b)|pas(?!\s+(?:seulement|de\s+doute)\b)|jamais|rien(?!\s+n'est\s+plus\b)|guère"
    r"|aucune?(?!\s+(?:doute|hésitation)\b)|nul(?:lement)?(?!\s+doute\b)|ni|peine(?=\s+à\b)|à\s+peine|(?<!\bde\s)loin"
    r"|personne(?=\s+ne\b)|impossible(?=\s+(?:d'|pour\b|de\s+(?!nier\b)))|difficile(?:ment)?"
    r"|nunca|jamás|nadie|nada|ning(?:ún|un[oa])(?!\s+duda\b)|tampoco|apenas|imposible|difícil(?:mente)?"
    r"|en\s+absoluto|lejos|me\s+niego"
    r"|(?<!posso\s)non(?!-|\s+(?:sol[oa]|soltanto|solamente|seulement|"
    r"(?:c'è|ho)\s+(?:(?:alcun|nessun)\s+)?dubb[io]o?|posso\s+(?:che|non)"
    r"|potrei\s+essere\s+più)\b)"
    r"|né|nessun[oa]?(?!\s+dubbio\b)|niente|nulla|neanche|nemmeno|neppure|impossibile|difficilmente|lontano"
    r"|mi\s+rifiuto"
    r"|niet(?!\s+(?:alleen|anders\s+dan)\b)|niets|nooit|geen(?:szins)?(?!\s+twijfel\b)|nauwelijks|allerminst"
    r"|onmogelijk|moeilijk|weiger"
)
# "If I had to choose" is no condition, but the model's way to an answer.
_FORCED = (
    r"\s+(?:(?:i\s+)?(?:absolutely\s+|really\s+)?(?:forced|pressed|pushed|asked|required|made|must|compelled)"
    r"|i\s+(?:had|have|were|was|am)\s+(?:absolutely\s+|really\s+)?(?:forced|pressed|pushed|asked|required"
    r"|made|compelled"
    r"|to\s+(?:choose|pick|select|answer|respond|say|decide|give|take|express|lean|make))"
    r"|you\s+(?:ask|insist|force|press|push))\b"
)
_CONDITION = (
    rf"if(?!{_FORCED})|unless|provided|assuming|suppos(?:e|ing)|(?:as|so)\s+long\s+as|when(?!\s+i\b)"
    r"|otherwise|in\s+(?:that|such\s+an?)\s+case"
    r"|with\s+(?:more|better|enough)|(?:under|in)\s+(?:other|different|certain|some|another)"
)
_OPENING = (
    rf"whether|if(?!{_FORCED})|before|until|should(?!\s+say)|(?:almost|nearly|always|often)(?=\s+$)|told"
    r"|designed|programmed|trained|w(?:as|ere)\s+going\s+to|how|to\s+which|may|might|could|perhaps|maybe"
    r"|possibly|unsure|undecided"
)
# Whose position it is where it is not the writer's.
_OTHERS = (
    r"one|you|they|he|she|anyone|everyone|everybody|someone|somebody|people|persons?|individuals?|others|experts?"
    r"|humans?|users?|citizens|voters|readers|respondents|author|public|society|majority|minority|those|who|some|many"
    r"|several|most(?!\s+(?:strongly|certainly|definitely|likely|appropriate|fitting|suitable|accurate"
    r"|honest))|(?!(?:and|besond|imm)ers\b)\w+(?:ists|ians|atives|als|ers|ents|ics)"
    r"|we\s+all|we\s+(?:can|could|should|must|need)|than|over(?=\s+$)|instead\s+of|such\s+as|for\s+example"
    r"|(?:a|an|the)(?=\s+\w+(?:\s+\w+){0,4}\s+(?:would|will|could|might|may|can|must|should)\s+$)"
    r"|(?:the|these|my|our|his|her|their)(?=(?:\s+\w+)?\s+(?!(?:is|was|says|means|reads|seems"
    r"|remains)\b)\w+s\s+$)|please|press|click|\w+s\s+(?:that|which)(?=\s+$)"
)
_CONCEDING = r"while|whilst|although|though|despite|even\s+if"
# "To agree" is a position only after one of these.
_COMMITTED = (
    r"ha(?:ve|d)|got|inclined|tend|lean(?:ing)?|going|compelled|forced|obliged|happy|glad|choose|chose|need|is|goes"
    r"|closer|nearer|(?:fair|safe)(?=\s+to\s+say)|i(?:'d|\s+would|'m|\s+am)(?:\s+be)?\s+(?:more|most)\s+likely"
    r"|(?:leads?|led|causes?|brings?|inclines?|allow)\s+me"
)
# Words that open a new clause, and so end the reach of a negation: "I do not judge people but agree".
_EUROPEAN_CLAUSE = (
    r"und|aber|sondern|jedoch|dennoch|et|mais|donc|pourtant|y|pero|sino|aunque|e|ma|però|quindi|maar|dus"
    r"|en(?=\s+(?:ik|ben|zou)\b)"
)
_NEW_CLAUSE = rf"and|as|because|but|however|instead|since|so|still|therefore|though|although|yet|{_EUROPEAN_CLAUSE}"
# From such a word to its label: perhaps an aside in commas ("I do not, however, agree"), then up to six words.
# Words are matched possessively (++, *+): there is one way to cut a text into them, so no text takes long.
_REACH = rf"(?:,[^,.;:!?\n]{{1,40}},)?(?:[ \t('\-]++(?!(?:{_NEW_CLAUSE})\b){LETTER}[\w'\-]*+){{0,6}}[ \t(']++$"
# German has a comma before what is denied, too: "nicht, dass ich zustimme".
_COMMA = r"(?:,(?=\s+(?:dass|ob)\b))?"
_EUROPEAN_REACH = _REACH.replace(_NEW_CLAUSE, _EUROPEAN_CLAUSE).replace("[ \\t", rf"{_COMMA}[ \t")
# The same, but not past the writer: "you know I agree".
_REACH_OF_OTHERS = _REACH.replace(_NEW_CLAUSE, rf"{_NEW_CLAUSE}|i|we|my")
_CHINESE_NEGATION = (  # "不能", "没有任何理由", "不认为我会"; but "不得不" and "不能不" deny nothing
    "(?:(?<!不得)(?<!不能)不(?:太|大|很|完全|能[够夠]?|[会會]|敢|[愿願]意?|想|怎[么麼]|一定|可能|可以|[应應][该該]?"
    "|打算|是[很太]?|再|[见見]?得|到|出有?)?|非|未[能必]?(?![来來])|[没沒]有?|[无無][法意]?"
    "|[难難]以|很[难難]|[谈談]不上|拒[绝絕]|既)"
    "(?:任何|什[么麼])?(?:理由|道理|必要|[办辦]法|可能)?(?:去|[来來])?"
    "(?:[说說]|表示|[认認][为為]|[觉覺]得|完全|太|很|真的)?(?:我|自己)?[会會]?"
)
_GERMAN_OR_DUTCH_DENIAL = (  # "Ja sagen würde ich nicht", "ja zou ik niet zeggen"
    r"(?: sagen| antworten)? (?:kann|könnte|würde|werde|will|möchte|mag|darf|zou|kan|wil|zal) (?:ich|man|ik) "
    r"(?:\w+ ){0,3}(?:nicht|nie|niet|nooit)\b"
)
_DENIED_BEFORE = re.compile(
    rf"(?<![\w'])(?:(?:{_NEGATION}){_REACH}|(?:{_EUROPEAN_NEGATION}){_EUROPEAN_REACH})|{_CHINESE_NEGATION}$"
)
_KOREAN_DENIAL = (  # behind a stem: "지 않습니다", "진 못합니다", " 수 없다", "기는 어렵다"
    r"(?:(?:[지치][는도를]?|진) ?(?:않|못|아니)"
    r"| ?(?:(?:수|이유|까닭|근거|필요|생각|마음|의향|의사)[는도가은이]?|순) ?없"
    r"| (?:이유|까닭|근거)[를을]? 찾(?:을 수|지)"
    r"|(?:기[가는엔]?|긴) ?(?:어[렵려]|힘[들듭드]|곤란))"
)
_KOREAN_NEGATION = (  # "찬성은 아닙니다", "찬성 안 합니다", "찬성하지 않습니다", "찬성하는 것은 아닙니다"
    r"(?!하지 않을 수[는도가]? ?없)'?[이가은는도을를]? ?(?:아[니닙닌]|(?:안|못) ?[하합해할함되됩돼]"
    rf"|(?:[하되할될]|하고 싶|(?:한다|이라)?고[는도]? \w{{1,4}}?)?{_KOREAN_DENIAL}"
    r"|하는 (?:것|거|건|게|편|쪽|입장|의견)[은는이도]? ?아[니닙닌])"
)
_JAPANESE_AFFIRMATION = (  # "賛成せざるを得ない", "賛成するしかない", "賛成で間違いありません", "賛成しても構わない"
    r"(?:です(?:から|ので|し)|(?:(?!ない|ません)[^\s。、,.!?「」()]){0,12}?(?:ざるを[得え]|しか(?!ね)|過言で|差し支え"
    r"|(?:ほか|他|以外|間違い|違い|相違|異論|異存|疑い|迷い|(?:何の|[でにもて])問題)に?[はがも]?(?:ない|ありません)(?!とは|わけ|か)"
    r"|ないわけに|(?:ないで|ずに)はいられ|(?:構|かま)(?:わない|いません)))"
)
_JAPANESE_NEGATION = (
    rf"[」』)]*(?!{_JAPANESE_AFFIRMATION})[^\s。、,.!?「」()]{{0,12}}?"
    r"(?:ない|ません|かねる|かねます|で(?:は)?なく|じゃなく|というより|できず|控え(?!め)|避け[るまた]"
    r"|迷って|悩んで|遠慮|保留|程遠い)"
    r"|し(?:がた|にく|づら|難)い|とは言い(?:がた|にく|づら|難)い"
    r"|(?:する(?:の|こと))?[はがも](?:難しい|無理|困難|不可能)|(?:する|と[言い]う)のは間違い(?:です|だ)|とは違う"
)
_DENIED_AFTER = re.compile(rf"{_JAPANESE_NEGATION}|{_KOREAN_NEGATION}|{_GERMAN_OR_DUTCH_DENIAL}")
_MILDLY = r"(?:\s+(?:really|personally|actually|simply|honestly|respectfully|just|at\s+all|in\s+any\s+way))?"
_PLAINLY_DENIED = re.compile(
    rf"(?:^|[.:;!?)\n]|\b(?:i|we){_MILDLY})\s*(?:do|did|would)(?:n't|\s+not){_MILDLY}"
    r"(?:\s+(?:think|believe|feel)(?:\s+that)?\s+(?:i|we)(?:\s+would)?)?\s+$"
)
_REPORTED_BEFORE = re.compile(
    rf"(?<![\w'])(?:{_OTHERS}){_REACH_OF_OTHERS}|(?<![\w'])(?:{_CONCEDING}){_REACH}"
    rf"|(?<![\w'])(?:if(?!{_FORCED})\s+i\s+(?:were|was)|(?:were|had)\s+(?:i|you)|depending|hypothetically"
    r"|sometimes)\b[^.;:!?\n]*$"
    r"|(?<!\bi\s)(?<!\w)(?:said|says|replied|wrote)\s*[:,]?\s*(?:i\s+)?$"
    r"|(?<!only\s)\bdo\s+i(?=[^.:;!?\n]*$)|\bthan\s+i\s+$"
    r"|\bi\s+(?:know|met|asked|heard|respect)\b[^.,;:!?\n]*$"
    r"|\b(?:example|sample|typical|possible|instance|(?:could|might|may)\s+be)\b[^.;!?\n]{0,20}:\s*(?:i\s+)?$"
    r"|\b(?:(?<!\bno\s)doubt|imagine|assume|pretend|let's\s+say|(?:he|she|you|they|who|people)\s+(?:think|believe"
    r"|know|assume|hope|say|want)s?)"
    r"\s+(?:that\s+)?(?:i\s+)?(?:would\s+)?$"
)
_TO = r"(?:\A|\s+)to(?:\s+(?:say|claim|state)(?:\s+that)?(?:\s+i)?)?(?:\s+\w+ly)?\s+$"
# Where "agree" is the writer's answer: the writer speaks, or it stands as an answer does, alone or as "answer: agree".
_COMMITS_BEFORE = re.compile(
    r"(?<![\w'])(?:inclination|preference|answers?|responses?|reply|replies|choices?|options?|verdict"
    r"|conclusion|position"
    r"|stance|vote|opinion|view|rating|label|fit|selection|decision|judge?ment)(?![\w])[^.;!?\n]*$"
    r"|(?<![\w'])(?:i|we|me|myself)(?!\w)"
    r"(?:(?!\b(?:an?|people|many|most|others|users|they|he|she|you|them|anyone|someone)\b)[^.;!?\n])*$"
    rf"|(?:\A|[.:;!?,)>\[\]\n\-\u2013\u2014]|[{_SPACELESS}]|\b(?:and|but|so|because|therefore|thus|hence"
    r"|then|ultimately|overall|still|yes|no|well)\b)"
    r"[\s'(>_\-]*(?:\d+[.):]?\s*|[a-d][.):]\s*)?(?:(?:\w+ly|very\s+much|do|would|must|have\s+to|somewhat|mostly)\s+)*$"
)
_INFINITIVE = re.compile(_TO)
_COMMITTED_TO = re.compile(rf"(?<!\w)(?:{_COMMITTED}){_TO}")
# After "agree" where it is no answer: "agree to (disagree)", which ends before the next mention; agreement
# with a sentence about the question ("that this is a complex issue") or with people ("with those who ..."); a verb of
# which the label is the subject ("agree would be a common answer"), unless the answer is the writer's.
_REPORTED_AFTER = re.compile(
    rf"\s{{1,3}}to\s{{1,3}}(?!(?:(?:an?|some|the)(?:\s+\w+){{0,2}}\s+(?:extent|degree|point|question"
    rf"|{stances.NOUNS})|this|that|it|your|indicate|meet|express|show|reflect)\b)"
    r"|(?:\s+with\s+your?(?:\s+\w+)?)?,?[ \t]+(?:that|it|this|there|the)\b"
    rf"(?:{stances.ABOUT_THE_QUESTION}|[^.;:!?\n]{{0,40}}\bi\s+(?:should|must|can|do|am)\b)"
    r"|\s+on\s+(?:what|which|how|an?)\b|\s+with\s+(?:\w+\s+){0,2}(?:question|framing|request|sides|answers?|being)\b"
    r"|\s+with\s+(?:those|people|anyone|everyone|critics)\b|(?:\s+with\s+\w+)?[,.!]?\s+(?:said|says|replied|answered)\b"
    r"|(?:,?[ \t]+)(?:is|was|has|means|(?:would|could|might|may|can|will)\s+be)\b"
    r"(?![^.;!?\n]{0,60}\b(?:i|i'd|my|me|closer|closest|better|best|right|correct|appropriate)\b)"
)
# What "agree" may be followed by: the end of its clause, the statement, a reason, or how much. All else limits it.
_GOES_ON_WITH = re.compile(
    rf"[{_SPACELESS}]|[\s'_)\]]*(?:\Z|[.,;:!?()\[\]\n\-\u2013\u2014/])"
    r"|\s+(?:that|because|since|as|for|and|but|though|although|while|so(?!\s+long)|given|here|overall"
    r"|fully|completely|strongly"
    r"|entirely|very|wholeheartedly|at\s+all|too|now|\d+|on\s+(?:this|that|it|balance|the\s+whole)"
    r"|in\s+(?:general|full|this|principle)"
    r"|rather|over|more|than|even|however|is|would|option|category|camp|or|nor|it|it's|this|there|the|i|even)\b"
    r"|\s+with\W*\Z|\s+with\s+(?:all\s+my|what|this|that|it|you|your|him|her|them|me)\b"
    rf"|\s+with\s+(?:the|an?|its|their|such\s+an?)\s+(?:[\w-]+\s+){{0,2}}(?:{stances.NOUNS}|author|speaker|message)s?\b"
    rf"|\s+(?:on|to)\s+(?:(?:an?|some|the)(?:\s+\w+){{0,2}}\s+(?:extent|degree|point|question"
    rf"|{stances.NOUNS})|this|that|it|your|indicate|meet|express|show|reflect)\b"
    r"|\s+without\s+(?:an?\s+|any\s+)?(?:doubt|hesitation|question|reservation)"
)
_CHOICE_BEFORE = re.compile(r"\b(?:between|either|options,|choices,)\s+$")  # "between agree and disagree"
_OPEN_BEFORE = re.compile(
    rf"(?<![\w'])(?:{_OPENING}){_REACH}"
    rf"|(?:\A|[.,;:!?\n]|\bbut\b|\beven\b)\s*(?:{_CONDITION})\b[^.;:!?\n]*$"
    r"|\bon\s+(?:the\s+)?(?:one|other)\s+(?:hand|side)\b[^.;:!?\n]*$"
    r"|(?:\A|[.;!?\n])\s*(?:should|were|had)\b[^.;:!?\n]*$"
)
_OPEN_AFTER = re.compile(
    r"[^.;:!\n。?]*\?"
    r"|(?:\s+with\s+(?:this|that|it)(?:\s+\w+)?)?,?\s+(?:but\s+)?(?:only\s+)?(?:if|unless|provided|(?:as"
    r"|so)\s+long\s+as|depending|were|except)\b"
    r"|\s*:\s*(?:if\s+(?:you|one|someone)|those\s+who|this\s+(?:option|choice|answer|response))\b"
    r"|[ \t]+when\b|[^.;:!?\n]{0,60}\bbut\s+not\s+(?:in|for|when|if)\b"
    r"|\s+(?:(?:with|to)\s+)?(?:some|parts?|certain|half|aspects)\b(?!\s+(?:extent|degree))"
    r"|\s+with\s+(?:one|two|three|several|(?:the|a)\s+(?:first|second|last|few|lot)"
    r"|[^.,;:!?\n]{0,40}\bonly(?=[.,;!\n]|\Z))|\s+in\s+(?:principle|theory)\b[^.;:!?\n]*\bbut\b"
    r"|[^!?\n]{0,60}\b(?:i|we)\s+(?:do\s+not|don't|would\s+not|wouldn't)(?:\s+know)?\s{0,3}[.,;!\n]"
)
# "I couldn't agree more" is full agreement.
_EMPHATIC_BEFORE = re.compile(r"\bc(?:ould|an)(?:n't|\s*not)\s+$")
_EMPHATIC_AFTER = re.compile(r"(?:\s+with\s+\w+(?:\s+\w+)?)?\s+more\b")
JOINED = re.compile(
    rf"\s*[,/、・もかやと]\s*|(?:でも|とも|または|又は|もしくは)"
    r"|[」』](?:[,/、・もかやと]|でも|とも|または|又は|もしくは)[「『]"
    r"|(?:하지도|한다고도),?\s+|(?:하거)?[도과와나]\s+|이나\s+|\s*(?:또는|혹은|및|아니면)\s*"
    r"|,?\s+(?:oder|noch|ou|ni|o|u|né|of)\s+(?:[\w']+\s+){0,3}|[或还還]是?|或者|也不|也[没沒]有?|[与與和]"
    r"|(?:(?<=yes)\s+and|(?<=ja)\s+und)\s+"
    rf"|(?:(?!\b(?:{_NEW_CLAUSE})\b)[^.;:!?\n]){{0,40}}\bn?or\b[^.;:!?\n]{{0,20}}"
)
# "No" before a noun is no reply ("there is no doubt"), nor are "no, thank you" and "yes, I can help".
NO_ALONE = r"(?!\s+(?!(?:as|and|because|but|here|i|if|in|is|it|or|over|rather|since|than|that|this|to|with|would)\b)\w)"
NO_REPLY = (
    r"(?!\s+(?:for|in|if|to|at|on|under|from)\b)"  # "yes for some, no for others"
    r"(?!(?:,|\.|!|\s-)\s+(?:thank|please|let|here|happy|i(?:'d|\s+would)\s+(?:rather|prefer)\s+not"
    r"|i\s+(?:understand|see)\b"
    r"|i\s+(?:can(?:'t|not)?|could|will|won't|am\s+(?:not\s+)?(?:able|unable)\s+to)\s+(?:answer|say|choose"
    r"|help|judge|decide|try|do)))"
)
# The same subject still: "people agree on the facts and disagree on the values".
COORDINATED = re.compile(r"(?:(?!\b(?:i|i'd|we|my)\b)[^.;:!?\n]){0,80}\band\s+(?:\w+ly\s+)?")


def classify_mention_by_surrounding_words(text_before: str, text_after: str, *, must_be_writers_own_view: bool) -> str:
    """Decide from the words around a group of mentions what it is.

    Parameters
    ----------
    text_before, text_after
        The text before and after the group.
    must_be_writers_own_view
        Whether a mention is asserted only where it is seen to be the writer's.

    Returns
    -------
    "asserted", "denied", "reported" or "open", as rules 3 to 5 of `text_answers` define them.
    """
    if _EMPHATIC_BEFORE.search(text_before) and _EMPHATIC_AFTER.match(text_after):
        return "asserted"
    if text_after.startswith(" zu "):  # German has a comma before its infinitive: "keinen Grund, nein zu sagen"
        text_before = "".join(text_before.rsplit(",", 1))
    if _CHOICE_BEFORE.search(text_before):
        return "reported"
    if _DENIED_BEFORE.search(text_before) or _DENIED_AFTER.match(text_after):
        return "denied"
    if _REPORTED_BEFORE.search(text_before) or _REPORTED_AFTER.match(text_after):
        return "reported"
    if _INFINITIVE.search(text_before) and not _COMMITTED_TO.search(text_before):
        return "reported"
    if _OPEN_BEFORE.search(text_before) or _OPEN_AFTER.match(text_after):
        return "open"
    if must_be_writers_own_view and not _GOES_ON_WITH.match(text_after):
        return "open"
    return "asserted" if _COMMITS_BEFORE.search(text_before) or not must_be_writers_own_view else "reported"


def is_plainly_denied(text_before: str) -> bool:
    """Tell whether "I do not" stands before a mention, and no denial before that: not "I cannot say I do not"."""
    plain = _PLAINLY_DENIED.search(text_before)
    return plain is not None and _DENIED_BEFORE.search(text_before[: plain.start()]) is None
