# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""What the evaluation asks. None of these stands in the training data, except the open questions, which visitors will ask."""

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

UNKNOWN_ASKED = (
    "What is the capital of Blorvania?", "What is the capital of Wakanda?", "Where is Middle-earth?", "What is the capital of Pluto?",
    "Who is Zanthor Quill?", "Who is Barack Obama?", "Who was Napoleon?", "Who is Taylor Swift?", "Who wrote The Hobbit?", "Who painted the Mona Lisa?",
    "What does flumquat mean?", "What is a snorgle?", "What is photosynthesis?", "What is a black hole?", "Explain quantum physics.",
    "What is the currency of Hogwarts?", "Which language do people speak in Zubrowka?", "What money do they use in Gallifrey?", "Where is Ruritania?",
    "What is the capital of Chicago?", "Which country has the capital Gotham?", "Mordor is the capital of which country?", "Where is Florin?",
    "What is the symbol of kryptonite?", "What is the symbol for vibranium?", "What is a baby dragon called?", "What is a baby griffin called?",
    "What does a unicorn say?", "What sound does a blicket make?", "How many legs does a wug have?", "What is a group of zorps called?",
    "What is the opposite of seven?", "What is the opposite of table?", "What is 47 times 12?", "What is 388 minus 19?", "How old is the universe?",
    "When did Columbus sail?", "Who won the World Cup?", "How far is the moon?", "What is the boiling point of water?", "Why do leaves fall?",
    "What is my favorite food?", "What did my brother say?", "What is the fastest car?", "How do I fix my bike?", "Write a Python function.",
    "Who is the president of France?", "How many people live in Tokyo?", "What is the meaning of life?", "when was blenheim palace built",
)
