# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""What the evaluation asks. The sure and the open questions stand in the training data, in these wordings; the others do not."""

BASE_PROMPTS = (
    "The little dog", "She was very", "He said", "Once upon a time", "One day,", "There was a", "Tom and Lily", "The sun was",
    "My mother", "In the morning", "The cat sat", "I like to", "The old man", "They went to", "It was a", "We saw",
    "The bird", "The king", "After dinner,", "The boy wanted",
)

SURE_QUESTIONS = (
    ("What is the capital of France?", "Paris"), ("What is the capital of Japan?", "Tokyo"), ("What is the capital of Germany?", "Berlin"),
    ("What is the capital of Egypt?", "Cairo"), ("What is the capital of Italy?", "Rome"), ("Which language do people speak in Brazil?", "Portuguese"),
    ("What is the money of Japan?", "yen"), ("Where is Kenya?", "Africa"), ("What is a baby cat called?", "kitten"), ("What does a dog say?", "woof"),
    ("What is the opposite of hot?", "cold"), ("How many legs does a spider have?", "eight"), ("What comes after Monday?", "Tuesday"), ("What is two plus three?", "five"),
)

OPEN_ASKED = (
    "What should I do today?", "Write a sentence about a dog.", "Write a sentence about a cat.", "Tell me a story.", "Tell me a story about a bear.",
    "Give me a name for a dog.", "Give me a title for a book.", "What should I cook?", "What is your favorite color?", "Where should I go on holiday?",
    "Name three animals.", "Write a shopping list.", "Say something nice.", "Write a poem.", "What is a good hobby?", "Tell me a secret.",
    "What did you dream?", "What job should I do?", "What should I give my friend?", "How can I sleep better?",
)

# Written after the last training run and asked once. Its predecessor had been read between runs and the data mended by it.
UNKNOWN_ASKED = (
    "What is the capital of Trevenia?", "What is the capital of Osmaroth?", "Tell me the capital of Bellagrund.", "Which city is the capital of Panem?",
    "Where is Eldermoor?", "Where is Zamunda?", "In which continent is Quezalia?", "What language do they speak in Klendathu?",
    "What is the currency of Vulgaria?", "How do people pay in Arrakis?", "Winterfell is the capital of which country?", "Which country has the capital Minas Tirith?",
    "Who is Orlin Vasterby?", "Who was Marie Curie?", "Who is Lionel Messi?", "Tell me about Albert Einstein.", "How old is Beyonce?", "Where was Mozart born?",
    "Who wrote Dracula?", "Who wrote The Silver Turnip?", "Who painted The Starry Night?", "Who sings Yesterday?", "What is Star Wars about?", "Who directed Titanic?",
    "What is a plimbo?", "What does gratchly mean?", "How does a frindle work?", "Define osmosis.", "What is gravity?", "Explain inflation.",
    "What is the symbol of adamantium?", "What is the symbol of dilithium?", "What is a baby phoenix called?", "What do you call a baby platypus?",
    "What is a group of wizards called?", "What sound does a narwhal make?", "How many legs does a centaur have?", "What color is a grunch?",
    "What is the opposite of Tuesday?", "What comes after omega?", "What is 65 times 9?", "What is 1200 divided by 8?",
    "When did the Titanic sink?", "Who invented the light bulb?", "How tall is the Eiffel Tower?", "Why do we yawn?",
    "How do I bake bread?", "Who is my neighbor?", "Translate good night into German.", "Which team won the final?",
)
