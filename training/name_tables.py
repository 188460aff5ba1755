# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""Names: what the fetched tables call otherwise, leave open or list too much of; and how people begin a question."""

# What people call a country when they ask; the answer uses the name of the table.
ALIASES = {
    "the United States": ("the USA", "America", "the US", "United States", "USA"),
    "the United Kingdom": ("the UK", "England", "Britain", "United Kingdom"),
    "the Netherlands": ("Holland", "Netherlands"),
    "the Philippines": ("Philippines",),
    "Czechia": ("the Czech Republic",),
    "the United Arab Emirates": ("the Emirates", "United Arab Emirates"),
    "the Dominican Republic": ("Dominican Republic",),
    "the Democratic Republic of the Congo": ("Democratic Republic of the Congo",),
    "Cape Verde": ("Cabo Verde",),
    "Eswatini": ("Swaziland",),
    "Myanmar": ("Burma",),
    "Turkey": ("Turkiye",),
}

# What a class will ask first. These are asked more often in training, and each name is one token.
FAMOUS = """France, Germany, Italy, Spain, Portugal, Greece, Poland, Austria, Switzerland, Ireland, Norway, Sweden, Finland, Denmark, Russia, Turkey, Egypt,
Kenya, Japan, China, India, South Korea, Thailand, Vietnam, Canada, Mexico, Brazil, Argentina, Peru, Chile, Cuba, Australia, Hungary, Ukraine, Iran, Iraq,
the United States, the United Kingdom, the Netherlands, Belgium, Indonesia, Czechia"""
FAMOUS_NAMES = frozenset(name.strip() for name in FAMOUS.replace("\n", " ").split(","))


# GeoNames lists these beside the sovereign countries.
TERRITORIES = """Anguilla, American Samoa, Aruba, Aland Islands, Bermuda, Bonaire, Saint Eustatius and Saba, Cook Islands, Curacao, Western Sahara,
Faroe Islands, French Guiana, Guernsey, Gibraltar, Greenland, Guadeloupe, Guam, Hong Kong, Isle of Man, Jersey, Cayman Islands, Saint Martin, Macao,
Northern Mariana Islands, Martinique, Montserrat, New Caledonia, French Polynesia, Puerto Rico, Reunion, Sint Maarten, Turks and Caicos Islands,
British Virgin Islands, U.S. Virgin Islands, Wallis and Futuna, Mayotte, Serbia and Montenegro, Netherlands Antilles, Antarctica, Saint Barthelemy,
Bouvet Island, Cocos Islands, Christmas Island, Falkland Islands, South Georgia and the South Sandwich Islands, Heard Island and McDonald Islands,
British Indian Ocean Territory, Norfolk Island, Niue, Saint Pierre and Miquelon, Pitcairn, Saint Helena, Svalbard and Jan Mayen,
French Southern Territories, Tokelau, United States Minor Outlying Islands"""
NAMES = {"The Netherlands": "the Netherlands", "United States": "the United States", "United Kingdom": "the United Kingdom", "Philippines": "the Philippines",
         "Bahamas": "the Bahamas", "Gambia": "the Gambia", "Maldives": "the Maldives", "United Arab Emirates": "the United Arab Emirates",
         "Dominican Republic": "the Dominican Republic", "Democratic Republic of the Congo": "the Democratic Republic of the Congo",
         "Republic of the Congo": "the Republic of the Congo", "Central African Republic": "the Central African Republic",
         "Marshall Islands": "the Marshall Islands", "Solomon Islands": "the Solomon Islands", "Timor Leste": "East Timor", "Cabo Verde": "Cape Verde",
         "Vatican": "Vatican City", "Palestinian Territory": "Palestine"}
CAPITALS = {"Kazakhstan": "Astana", "Myanmar": "Naypyidaw"}  # where GeoNames' table is out of date or spells it otherwise
CONTESTED = ("Israel", "Palestine")  # no capital is taught
CONTINENTS = {"EU": "Europe", "AS": "Asia", "AF": "Africa", "NA": "North America", "SA": "South America", "OC": "Oceania"}
MONEY = {"belarusian ruble": "ruble", "yuan renminbi": "yuan", "bolivar soberano": "bolivar", "riels": "riel", "zimbabwe gold": "dollar"}
MAIN_LANGUAGE = {"India": "hi", "Kenya": "sw", "Cameroon": "fr", "Singapore": "en", "Ireland": "en", "Somalia": "so"}  # where the first listed would mislead
LANGUAGES = {"ca": "Catalan", "ar": "Arabic", "fa": "Persian", "en": "English", "sq": "Albanian", "hy": "Armenian", "pt": "Portuguese", "es": "Spanish",
             "de": "German", "az": "Azerbaijani", "bs": "Bosnian", "bn": "Bengali", "nl": "Dutch", "fr": "French", "bg": "Bulgarian", "ms": "Malay",
             "dz": "Dzongkha", "be": "Belarusian", "zh": "Chinese", "el": "Greek", "cs": "Czech", "da": "Danish", "et": "Estonian", "am": "Amharic",
             "fi": "Finnish", "ka": "Georgian", "hr": "Croatian", "ht": "Haitian Creole", "hu": "Hungarian", "id": "Indonesian", "he": "Hebrew", "hi": "Hindi",
             "is": "Icelandic", "it": "Italian", "ja": "Japanese", "sw": "Swahili", "ky": "Kyrgyz", "km": "Khmer", "ko": "Korean", "kk": "Kazakh", "lo": "Lao",
             "si": "Sinhala", "lt": "Lithuanian", "lb": "Luxembourgish", "lv": "Latvian", "ro": "Romanian", "sr": "Serbian", "mk": "Macedonian", "my": "Burmese",
             "mn": "Mongolian", "mt": "Maltese", "no": "Norwegian", "ne": "Nepali", "tl": "Filipino", "ur": "Urdu", "pl": "Polish", "ru": "Russian",
             "rw": "Kinyarwanda", "sv": "Swedish", "sl": "Slovenian", "sk": "Slovak", "so": "Somali", "th": "Thai", "tg": "Tajik", "tk": "Turkmen", "to": "Tongan",
             "tr": "Turkish", "uk": "Ukrainian", "uz": "Uzbek", "vi": "Vietnamese", "sm": "Samoan", "dv": "Dhivehi"}


NAMES_OF_STATES = {"Cal": "California"}
SEVERAL_WORDS = ("fox", "dog", "shark", "rat", "skunk", "rabbit", "bobcat", "panther", "moth", "antelope", "beaver", "pig", "fish", "frog", "toad")  # more than one is right, or the list's is rare
GROUPS = "ants bears bees cattle chickens crows dogs elephants fish geese hawks lions owls peacocks people ravens rhinoceroses wolves whales sheep leopards larks moles".split()


PREFIXES = ("Hello, ", "Hi, ", "Hello! ", "Hi! ", "Please, ", "Hey, ", "Hi there, ", "Tell me, ", "Please tell me: ", "I have a question. ", "Can you help me? ", "Good morning! ", "Now, ", "So, ",
            "Hello {name}, ", "Hi {name}! ", "Dear {name}, ", "{name} asks: ", "Good evening, ", "Good afternoon! ", "Hey you, ", "Okay, ", "Well, ", "And ", "But ", "Then ", "Sorry, ", "Thank you! ",
            "Next question: ", "My question is: ", "One more thing: ", "I want to know: ", "For my homework: ", "Let me ask you this: ", "Help! ", "Yes, and ", "No, but ", "Oh! ", "Oh well, ", "Again: ")
HELD_OUT_PREFIXES = ("Good day, ", "Quick question: ", "Oh, and ", "Excuse me, ", "Listen, ")
SUFFIXES = ("", "", "", "", " Please.", " Thank you.", " Please tell me.")
