"""Sentences of our own, and all negations that the rule table makes of each: written by hand, letter for letter."""

from __future__ import annotations

import pytest

from inference.negate import sentences
from inference.negate.japanese import negations
from inference.negate.rules import table
from inference.negate.words import analysed

pytest.importorskip("fugashi")
pytest.importorskip("unidic_lite")

# sentence | its negations, with / between them; - for none
EXPECTED = """
毎晩、姉が日記を書く。 | 毎晩、姉が日記を書かない。
兄が窓を閉める。 | 兄が窓を閉めない。
弟は漫画を読みます。 | 弟は漫画を読みません。
兄は駅まで歩きました。 | 兄は駅まで歩きませんでした。
父が笑った。 | 父が笑わなかった。
川で子どもが泳いだ！ | 川で子どもが泳がなかった！
雪が降っていますね。 | 雪が降っていませんね。
弟は宿題をしている。 | 弟は宿題をしていない。
妹は昼寝をしていた。 | 妹は昼寝をしていなかった。
笑ってる。 | 笑ってない。
みんな笑ってます。 | みんな笑ってません。
窓が閉められている。 | 窓が閉められていない。
荷物は昨日送られました。 | 荷物は昨日送られませんでした。
祖母に手紙を書かされた。 | 祖母に手紙を書かされなかった。
兄が犬を走らせる。 | 兄が犬を走らせない。
妹は泳げます。 | 妹は泳げません。
友人が明日こちらへ来る。 | 友人が明日こちらへ来ない。
友人がきのう来ました。 | 友人がきのう来ませんでした。
友だちがうちにくる。 | 友だちがうちにこない。
荷物がきた。 | 荷物がこなかった。
毎日運動する。 | 毎日運動しない。
船が明日出港します。 | 船が明日出港しません。
彼は法律に反する。 | 彼は法律に反しない。
母は花を愛する。 | 母は花を愛さない。
庭に池がある。 | 庭に池がない。
庭に池があります。 | 庭に池がありません。
そこには橋があった。 | そこには橋がなかった。
時間があれば行きます。 | 時間がなければ行きます。 / 時間があれば行きません。
時間があっても帰る。 | 時間がなくても帰る。 / 時間があっても帰らない。
右に駅があり、左に川がある。 | 右に駅がなく、左に川がある。 / 右に駅があり、左に川がない。
彼女は医者である。 | 彼女は医者でない。
ここが入り口であります。 | ここが入り口でありません。
彼は先生です。 | -
こちらにございます。 | こちらにございません。
先生がおっしゃいました。 | 先生がおっしゃいませんでした。
この部屋は明るい。 | この部屋は明るくない。
この部屋は明るいです。 | この部屋は明るくないです。
昨日は寒かったです。 | 昨日は寒くなかったです。
天気がいい。 | 天気がよくない。
味がよかった。 | 味がよくなかった。
安ければ買います。 | 安くなければ買います。 / 安ければ買いません。
猫は賢くて可愛い。 | 猫は賢くなくて可愛い。 / 猫は賢くて可愛くない。
夏は暑く、冬は寒い。 | 夏は暑くなく、冬は寒い。 / 夏は暑く、冬は寒くない。
旅行に行きたい。 | 旅行に行きたくない。
旅行に行きたかったです。 | 旅行に行きたくなかったです。
海は静かだ。 | 海は静かではない。
海は静かです。 | 海は静かではありません。
海はとても静かだった。 | 海はとても静かではなかった。
海はとても静かでした。 | 海はとても静かではありませんでした。
静かな海を見る。 | 静かでない海を見る。 / 静かな海を見ない。
りんごが好きな人がいる。 | りんごが好きでない人がいる。 / りんごが好きな人がいない。
彼は元気です。 | 彼は元気ではありません。
伝統的な祭りが行われる。 | 伝統的でない祭りが行われる。 / 伝統的な祭りが行われない。
美味しそうなケーキを食べた。 | 美味しそうでないケーキを食べた。 / 美味しそうなケーキを食べなかった。
母は「すぐ帰る」と言った。 | 母は「すぐ帰らない」と言った。 / 母は「すぐ帰る」と言わなかった。
「早く走れ」と叫んだ。 | 「早く走れ」と叫ばなかった。
彼は来ると思う。 | 彼は来ないと思う。 / 彼は来ると思わない。
雨が降るらしい。 | 雨が降らないらしい。
雨が降るようだ。 | 雨が降らないようだ。
雨が降るでしょう。 | 雨が降らないでしょう。
雨が降るかもしれない。 | 雨が降らないかもしれない。
バスが来るはずだ。 | バスが来ないはずだ。
本を借りた学生が帰る。 | 本を借りていない学生が帰る。 / 本を借りた学生が帰らない。
水を飲んだ猫が眠る。 | 水を飲んでいない猫が眠る。 / 水を飲んだ猫が眠らない。
捨てられた自転車が錆びる。 | 捨てられなかった自転車が錆びる。 / 捨てられた自転車が錆びない。
立っていた人が座る。 | 立っていなかった人が座る。 / 立っていた人が座らない。
歩いている人を見る。 | 歩いていない人を見る。 / 歩いている人を見ない。
着いた時に電話する。 | 着かなかった時に電話する。 / 着いた時に電話しない。
食べた後に薬を飲む。 | 食べた後に薬を飲まない。
着いたばかりだ。 | -
電気を消して寝る。 | 電気を消さず寝る。 / 電気を消して寝ない。
本を読み、茶を飲む。 | 本を読まず、茶を飲む。 / 本を読み、茶を飲まない。
庭に犬がいて、吠えている。 | 庭に犬がいなくて、吠えている。 / 庭に犬がいて、吠えていない。
窓を開けてください。 | 窓を開けないでください。
写真を撮ってもいい。 | 写真を撮らなくてもいい。 / 写真を撮ってもよくない。
そこに座って。 | そこに座らないで。
資料を作っておきます。 | 資料を作っておきません。
犬が歩いて来た。 | 犬が歩いて来なかった。
泳いだり走ったりする。 | 泳がなかったり走ったりする。 / 泳いだり走らなかったりする。 / 泳いだり走ったりしない。
晴れたら泳ぐ。 | 晴れなかったら泳ぐ。 / 晴れたら泳がない。
急げば間に合う。 | 急がなければ間に合う。 / 急げば間に合わない。
歩きながら歌う。 | 歩きながら歌わない。
本を読み始めました。 | 本を読み始めませんでした。
映画を見に行きます。 | 映画を見に行きません。
行こう。 | -
触るな。 | -
早く寝るべきだ。 | -
行く前に食べる。 | 行く前に食べない。
よく見えるように座る。 | よく見えないように座る。 / よく見えるように座らない。
１２３番の切符を４枚買った。 | １２３番の切符を４枚買わなかった。
ＮＨＫのニュースを見る | ＮＨＫのニュースを見ない
犬が 走る。 | 犬が 走らない。
犬が走る。猫が寝る。 | 犬が走らない。猫が寝る。 / 犬が走る。猫が寝ない。
ｶﾒﾗが壊れた。 | ｶﾒﾗが壊れなかった。
祖父は庭で野菜を育てている。 | 祖父は庭で野菜を育てていない。
子どもたちが公園で遊びました。 | 子どもたちが公園で遊びませんでした。
図書館は九時に開きます。 | 図書館は九時に開きません。
この道は狭くて暗い。 | この道は狭くなくて暗い。 / この道は狭くて暗くない。
店員が親切だった。 | 店員が親切ではなかった。
昨夜は星が見えた。 | 昨夜は星が見えなかった。
彼は歌が上手です。 | 彼は歌が上手ではありません。
薬を飲んだら治りました。 | 薬を飲まなかったら治りました。 / 薬を飲んだら治りませんでした。
母に頼まれた買い物を済ませた。 | 母に頼まれなかった買い物を済ませた。 / 母に頼まれた買い物を済ませなかった。
彼女が描いた絵が賞を取った。 | 彼女が描いていない絵が賞を取った。 / 彼女が描いた絵が賞を取らなかった。
壁に地図が貼ってある。 | 壁に地図が貼ってない。
昼ご飯を食べてから出かける。 | 昼ご飯を食べてから出かけない。
毎朝五時に起きることにした。 | 毎朝五時に起きないことにした。 / 毎朝五時に起きることにしなかった。
明日は晴れるだろう。 | 明日は晴れないだろう。
先生に相談したいです。 | 先生に相談したくないです。
弟に部屋を掃除させました。 | 弟に部屋を掃除させませんでした。
新幹線なら間に合う。 | 新幹線なら間に合わない。
その話を信じます。 | その話を信じません。
電車が遅れたため、会議に遅刻した。 | 電車が遅れなかったため、会議に遅刻した。 / 電車が遅れたため、会議に遅刻しなかった。
庭の木が大きくなった。 | 庭の木が大きくならなかった。
窓から富士山が見られます。 | 窓から富士山が見られません。
このかばんは重すぎる。 | このかばんは重すぎない。
手伝ってくれてありがとう。 | -
手を洗わせていただきます。 | 手を洗わせていただきません。
駅前に新しいパン屋ができた。 | 駅前に新しくないパン屋ができた。 / 駅前に新しいパン屋ができなかった。
ペンを持って教室に入る。 | ペンを持たず教室に入る。 / ペンを持って教室に入らない。
先に帰ってもいいですか。 | 先に帰らなくてもいいですか。 / 先に帰ってもよくないですか。
彼は「とても楽しい」と話した。 | 彼は「とても楽しくない」と話した。 / 彼は「とても楽しい」と話さなかった。
部屋をきれいに片付ける。 | 部屋をきれいに片付けない。
雨が止み、虹が出た。 | 雨が止まず、虹が出た。 / 雨が止み、虹が出なかった。
安全な場所へ逃げろ。 | 安全でない場所へ逃げろ。
彼が来れば始められる。 | 彼が来なければ始められる。 / 彼が来れば始められない。
海外で働くのは難しい。 | 海外で働かないのは難しい。 / 海外で働くのは難しくない。
妹は人形をほしがる。 | 妹は人形をほしがらない。
この本は読みやすいです。 | この本は読みやすくないです。
十月になると葉が赤くなる。 | 十月にならないと葉が赤くなる。 / 十月になると葉が赤くならない。
猫を飼っている友人に会った。 | 猫を飼っていない友人に会った。 / 猫を飼っている友人に会わなかった。
朝は忙しいので走る。 | 朝は忙しくないので走る。 / 朝は忙しいので走らない。
会議は中止になりました。 | 会議は中止になりませんでした。
鳥のように空を飛びたい。 | 鳥のように空を飛びたくない。
試験に受かったそうだ。 | 試験に受からなかったそうだ。
彼は疲れているみたいだ。 | 彼は疲れていないみたいだ。
お茶をお飲みになりますか。 | お茶をお飲みになりませんか。
荷物を運んでもらった。 | 荷物を運んでもらわなかった。
写真のような景色だ。 | 写真のようでない景色だ。
彼女は泣きながら笑った。 | 彼女は泣きながら笑わなかった。
父は毎日忙しく働く。 | 父は毎日忙しく働かない。
池には鯉がおります。 | 池には鯉がおりません。
有名な画家が住んでいた家だ。 | 有名でない画家が住んでいた家だ。 / 有名な画家が住んでいなかった家だ。
東京都千代田区 | -
全品半額 | -
"""
CASES = [[part.strip() for part in line.split("|")] for line in EXPECTED.strip().splitlines()]


@pytest.mark.parametrize(("sentence", "expected"), CASES, ids=[sentence for sentence, _ in CASES])
def test_every_place_takes_a_negation_and_its_neighbours_follow(sentence, expected):
    made = [negation.text for negation in negations(sentence, analysed(sentence))]
    assert made == ([] if expected == "-" else expected.split(" / "))


EXAMPLES = [rule.example for rule in table().rules if rule.writes]


@pytest.mark.parametrize("example", EXAMPLES, ids=[source for source, _ in EXAMPLES])
def test_every_rule_makes_its_example(example):
    """Not only the sentence comes out: this very rule makes it, so no rule before it takes all its places."""
    source, expected = example
    words = analysed(source)
    (rule,) = (rule for rule in table().rules if rule.example == example)
    assert expected in [negation.text for negation in negations(source, words)]
    kinds = {*rule.kinds, "verb", "adjective", "adjectival verb"}
    assert any(table().rule(kind, words, place) is rule for place in range(len(words)) for kind in kinds)


def test_a_rule_makes_a_negation_or_says_why_it_makes_none():
    from inference.negate.rules import TABLE
    from inference.stimuli.files import read_yaml

    for entry in read_yaml(TABLE)["rules"]:
        assert ("writes" in entry) == ("example" in entry) != ("leaves" in entry), entry


@pytest.mark.parametrize(
    ("sentence", "position", "target_pos", "insertion"),
    [
        ("犬が走る。", "end", "動詞", "ない"),
        ("犬が走ります。", "end", "動詞", "ん"),
        ("犬が走ります", "end", "動詞", "ん"),
        ("犬が走りますか。", "mid", "動詞", "ん"),
        ("犬が走った。", "mid", "動詞", "なかっ"),
        ("犬が走りました。", "mid", "動詞", "ん"),
        ("「犬が走る！」", "end", "動詞", "ない"),
        ("犬が走り、止まれ。", "mid", "動詞", "ず"),
        ("空は青い。", "end", "形容詞", "ない"),
        ("空は青いです。", "mid", "形容詞", "ない"),
        ("海は静かです。", "end", "形容動詞", "ん"),
        ("海は静かでした。", "mid", "形容動詞", "ん"),
    ],
)
def test_the_end_is_right_before_the_last_punctuation(sentence, position, target_pos, insertion):
    (negation,) = negations(sentence, analysed(sentence))
    assert (negation.position, negation.target_pos, negation.insertion) == (position, target_pos, insertion)


def test_a_long_sentence_takes_as_many_negations_as_it_has_places():
    sentence = "犬が走って、" * 50 + "猫が寝る。"
    assert len(sentence) > 300
    (made,) = sentences.negated([sentence], "ja")
    assert len(made) == 51
    assert all(each.text.replace("走らず", "走って").replace("寝ない", "寝る") == sentence for each in made)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("", sentences.EMPTY),
        ("The dog runs.", sentences.FOREIGN),
        ("。。。", sentences.FOREIGN),
        ("１２３", sentences.FOREIGN),
        ("東京都千代田区", sentences.NO_TARGET),
        ("これは本です。", sentences.NO_TARGET),
        ("さあ、行こう。", sentences.NO_PLACE),
        ("犬が走らない。", sentences.NEGATED),
        ("走る。" * 1000, sentences.LONG),
    ],
)
def test_a_sentence_without_negations_has_a_reason(sentence, reason):
    assert list(sentences.negated([sentence], "ja")) == [reason]
