"""Readable names for made-up data: cities that a person recognises, and apps that read like apps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# City and country, largest first. Cities of one country are hard to tell apart, so the first four lie in four
# countries; the first 25 hold one country with five cities and two countries with two.
CITIES: tuple[tuple[str, str], ...] = (
    ("New York", "US"), ("London", "GB"), ("Tokyo", "JP"), ("Paris", "FR"), ("Los Angeles", "US"),
    ("Chicago", "US"), ("Berlin", "DE"), ("Madrid", "ES"), ("San Francisco", "US"), ("Mumbai", "IN"),
    ("Manchester", "GB"), ("Houston", "US"), ("Toronto", "CA"), ("Sydney", "AU"), ("São Paulo", "BR"),
    ("Barcelona", "ES"), ("Amsterdam", "NL"), ("Istanbul", "TR"), ("Seoul", "KR"), ("Mexico City", "MX"),
    ("Rome", "IT"), ("Stockholm", "SE"), ("Singapore", "SG"), ("Warsaw", "PL"), ("Cairo", "EG"),
    ("Lisbon", "PT"), ("Vienna", "AT"), ("Munich", "DE"), ("Milan", "IT"), ("Boston", "US"),
    ("Melbourne", "AU"), ("Dublin", "IE"), ("Athens", "GR"), ("Prague", "CZ"), ("Bangkok", "TH"),
    ("Delhi", "IN"), ("Osaka", "JP"), ("Rio de Janeiro", "BR"), ("Vancouver", "CA"), ("Buenos Aires", "AR"),
    ("Copenhagen", "DK"), ("Helsinki", "FI"), ("Oslo", "NO"), ("Budapest", "HU"), ("Brussels", "BE"),
    ("Zurich", "CH"), ("Jakarta", "ID"), ("Manila", "PH"), ("Lagos", "NG"), ("Nairobi", "KE"),
    ("Seattle", "US"), ("Edinburgh", "GB"), ("Lyon", "FR"), ("Hamburg", "DE"), ("Seville", "ES"),
    ("Naples", "IT"), ("Montreal", "CA"), ("Kyoto", "JP"), ("Busan", "KR"), ("Porto", "PT"),
    ("Cape Town", "ZA"), ("Dubai", "AE"), ("Hong Kong", "HK"), ("Taipei", "TW"), ("Shanghai", "CN"),
    ("Beijing", "CN"), ("Kuala Lumpur", "MY"), ("Hanoi", "VN"), ("Lima", "PE"), ("Bogotá", "CO"),
    ("Santiago", "CL"), ("Casablanca", "MA"), ("Tel Aviv", "IL"), ("Kyiv", "UA"), ("Bucharest", "RO"),
    ("Miami", "US"), ("Glasgow", "GB"), ("Marseille", "FR"), ("Cologne", "DE"), ("Valencia", "ES"),
    ("Florence", "IT"), ("Kraków", "PL"), ("Rotterdam", "NL"), ("Ankara", "TR"), ("Guadalajara", "MX"),
    ("Johannesburg", "ZA"), ("Auckland", "NZ"), ("Reykjavík", "IS"), ("Tallinn", "EE"), ("Riga", "LV"),
    ("Vilnius", "LT"), ("Sofia", "BG"), ("Zagreb", "HR"), ("Ljubljana", "SI"), ("Bratislava", "SK"),
    ("Belgrade", "RS"), ("Havana", "CU"), ("Accra", "GH"), ("Quito", "EC"), ("Montevideo", "UY"),
)  # fmt: skip


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FIRST = _words("""
    Amber Atlas Azure Basic Bitty Bold Brave Breezy Bright Bubble Calm Candid Clear Clever Cloud Cosmic Cozy
    Crisp Daily Deep Dizzy Early Easy Echo Ember Epic Fable Fancy Fleet Fresh Fuzzy Gentle Giant Golden
    Grand Handy Happy Hidden Honest Humble Ivory Jolly Jumbo Keen Kind Lazy Little Lively Lucky Lunar Magic
    Maple Mellow Mighty Mini Misty Modern Nimble Noble North Ocean Open Orbit Paper Pixel Pocket Polar Prime
    Quick Quiet Rapid Ready Retro River Rocket Royal Rusty Secret Silver Simple Sleepy Smart Snappy Solar
    Sonic Spark Spicy Stellar Sunny Super Swift Tidy Tiny Turbo Urban Velvet Vivid Wild Witty Zen
""")
_THEME = _words("""
    Alarm Aquarium Backgammon Backup Bakery Balloon Battery Bingo Birdwatch Blocks Bookshelf Bowling Browser
    Budget Calculator Calendar Camera Cards Castle Checkers Chess Chords Circuit Clock Coach Coins Collage
    Compass Converter Cooking Crossword Darts Diary Dictionary Dominoes Dragons Drums Expenses Farm Fishing
    Fitness Flashcards Flashlight Football Gallery Garden Golf Guitar Habits Hockey Horoscope Invoice
    Journal Jukebox Karaoke Kart Keyboard Kitchen Launcher Lessons Library Lotto Magnifier Mahjong Mail Maps
    Marathon Maze Memo Messenger Mixer News Notes Painter Passwords Pets Photo Piano Pinball Pirates Planner
    Player Podcast Poker Pool Puzzle Quiz Racing Radar Radio Reader Recipes Recorder Reminders Robots Runner
    Scanner Shopping Sketch Sleep Soccer Solitaire Speedtest Stickers Stocks Stories Sudoku Tanks Tennis
    Timer Todo Towers Translator Trivia Tuner Voicemail Wallet Wallpaper Weather Widgets Words Workout Yoga
""")
_FORM = (
    "", "Pro", "Lite", "Plus", "Go", "HD", "Now", "Mania", "Quest", "Hub", "Studio", "Buddy", "Club", "Deluxe",
)  # fmt: skip
_LOCAL = (
    "Transit", "Parking", "Events", "Food Guide", "Taxi", "Bikes", "News", "Offline Map", "Radio", "Weather",
    "Museums", "Jobs", "Rentals", "Nightlife", "Bus Times", "Library", "Cinemas", "Football", "Markets",
    "Delivery", "Pharmacies", "Traffic", "Tickets", "City Tour",
)  # fmt: skip
# Steps through the word lists so that neighbours share no word; it shares no factor with the number of names.
_STRIDE = 61_027


def city_names(n: int) -> tuple[str, ...]:
    """The names of ``n`` cities, all different; past the list they are numbered ("New York 2")."""
    return tuple(_numbered(CITIES[k % len(CITIES)][0], k // len(CITIES)) for k in range(n))


def city_countries(n: int) -> NDArray[np.int64]:
    """The country of each of ``n`` cities, as a code; a numbered city lies in a numbered country."""
    countries = [_numbered(CITIES[k % len(CITIES)][1], k // len(CITIES)) for k in range(n)]
    return np.unique(countries, return_inverse=True)[1].astype(np.int64)


def app_names(n: int, *, places: Sequence[str] | None = None) -> NDArray[np.str_]:
    """``n`` app names, all different; item ``j`` is called after ``places[j]`` unless that is empty."""
    if places is None:
        return np.array([_plain_name(j) for j in range(n)], dtype=np.str_)
    called: Counter[str] = Counter()
    names = []
    for j, place in enumerate(places):
        names.append(_local_name(place, called[place]) if place else _plain_name(j))
        called[place] += 1
    return np.array(names, dtype=np.str_)


def _plain_name(j: int) -> str:
    total = len(_FIRST) * len(_THEME) * len(_FORM)
    again, k = divmod(j, total)
    k = k * _STRIDE % total
    k, first = divmod(k, len(_FIRST))
    form, theme = divmod(k, len(_THEME))
    return _numbered(f"{_FIRST[first]} {_THEME[theme]} {_FORM[form]}".rstrip(), again)


def _local_name(place: str, k: int) -> str:
    k, thing = divmod(k, len(_LOCAL))
    again, form = divmod(k, len(_FORM))
    return _numbered(f"{place} {_LOCAL[thing]} {_FORM[form]}".rstrip(), again)


def _numbered(name: str, again: int) -> str:
    return f"{name} {again + 1}" if again else name
