# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""Facts that no package carries, and the wordings in which all facts are told and asked."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Relation:
    """How one kind of fact is told and asked: {x} is what is asked about, {y} the answer. The first held_out are never trained."""

    answer: str
    questions: tuple[str, ...]
    held_out: tuple[str, ...]
    statements: tuple[str, ...]


RELATIONS = {
    "capital": Relation(
        "The capital of {x} is {y}.",
        ("What is the capital of {x}?", "What's the capital of {x}?", "Which city is the capital of {x}?", "Tell me the capital of {x}.",
         "What is the capital city of {x}?", "Name the capital of {x}.", "Do you know the capital of {x}?", "{x} has which capital?",
         "What is {x}'s capital?", "Capital of {x}?", "{x} capital?", "What city is the capital of {x}?", "I want to know the capital of {x}."),
        ("Could you name the capital city of {x}?", "Please tell me which city is the capital of {x}."),
        ("The capital of {x} is {y}.", "{y} is the capital of {x}.", "The capital city of {x} is {y}."),
    ),
    "capital of": Relation(
        "{x} is the capital of {y}.",
        ("{x} is the capital of which country?", "Which country has the capital {x}?", "What country is {x} the capital of?",
         "Of which country is {x} the capital?", "Which country's capital is {x}?", "What country has {x} as its capital?",
         "{x} is the capital of what?", "What is {x} the capital of?", "What is {x}?", "Tell me about {x}."),
        ("Tell me which country has {x} as its capital.", "For which country is {x} the capital?"),
        ("{x} is the capital of {y}.",),
    ),
    "continent": Relation(
        "{x} is in {y}.",
        ("Where is {x}?", "In which continent is {x}?", "On which continent is {x}?", "Which continent is {x} in?", "What continent is {x} in?",
         "Where can I find {x}?", "Tell me where {x} is.", "Where is {x} on the map?", "In what part of the world is {x}?", "Where is the country {x}?"),
        ("Do you know where {x} is?", "On what continent can I find {x}?"),
        ("{x} is in {y}.", "{x} is a country in {y}.", "{x} is one of the countries in {y}."),
    ),
    "portrait": Relation(
        "{x} is in {y}",
        ("Tell me about {x}.", "Tell me about the country {x}.", "What do you know about {x}?", "What is {x}?", "Tell me something about {x}.", "Describe {x}.", "What can you tell me about {x}?"),
        ("Do you know the country {x}?", "Say something about the country {x}."),
        (),  # its two sentences are told one by one
    ),
    "language": Relation(
        "People in {x} speak {y}.",
        ("Which language do people speak in {x}?", "What language do they speak in {x}?", "What do people in {x} speak?", "What is the language of {x}?",
         "Which language is spoken in {x}?", "What language is spoken in {x}?", "Tell me the language of {x}.", "Language of {x}?", "Which language do they speak in {x}?"),
        ("What is the main language in {x}?", "Do you know which language people speak in {x}?"),
        ("People in {x} speak {y}.", "The language of {x} is {y}.", "In {x} people speak {y}."),
    ),
    "money": Relation(
        "The money of {x} is the {y}.",
        ("What is the money of {x}?", "What is the currency of {x}?", "Which money do they use in {x}?", "What money do people use in {x}?", "How do people pay in {x}?",
         "Which currency does {x} have?", "What currency is used in {x}?", "Tell me the money of {x}.", "Currency of {x}?", "What is the money in {x} called?"),
        ("Which currency do people use in {x}?", "Do you know the currency of {x}?"),
        ("The money of {x} is the {y}.", "People in {x} pay with the {y}.", "The currency of {x} is the {y}."),
    ),
    "state capital": Relation(
        "The capital of {x} is {y}.",
        ("What is the capital of {x}?", "What's the capital of {x}?", "Which city is the capital of {x}?", "Tell me the capital of {x}.",
         "What is the capital city of {x}?", "Name the capital of {x}.", "Do you know the capital of {x}?", "What is {x}'s capital?",
         "Capital of {x}?", "{x} capital?", "What is the capital of the state of {x}?", "What city is the capital of {x}?"),
        ("Could you name the capital city of {x}?", "Please tell me which city is the capital of {x}."),
        ("{x} is a state in America. Its capital is {y}.", "The capital of {x} is {y}.", "{y} is the capital of the state of {x}."),
    ),
    "symbol": Relation(
        "The symbol of {x} is {y}.",
        ("What is the symbol of {x}?", "What is the symbol for {x}?", "What's the symbol of {x}?", "Which symbol does {x} have?", "Tell me the symbol of {x}.",
         "What is the chemical symbol of {x}?", "Symbol of {x}?", "How do you write {x} in chemistry?", "What letters stand for {x}?"),
        ("Which letters are the symbol of {x}?", "Do you know the symbol of {x}?"),
        ("The symbol of {x} is {y}.", "{y} is the symbol of {x}.", "{x} is an element. Its symbol is {y}."),
    ),
    "baby": Relation(
        "A baby {x} is called a {y}.",
        ("What is a baby {x} called?", "What do you call a baby {x}?", "What is the name of a baby {x}?", "How do you call a baby {x}?", "What is a young {x} called?",
         "What do we call a baby {x}?", "Baby {x}?", "Tell me what a baby {x} is called.", "What is the word for a baby {x}?"),
        ("Do you know what a baby {x} is called?", "What is the right word for a young {x}?"),
        ("A baby {x} is called a {y}.", "A {y} is a baby {x}.", "A young {x} is called a {y}."),
    ),
    "group": Relation(
        "A group of {x} is called a {y}.",
        ("What is a group of {x} called?", "What do you call a group of {x}?", "What do we call many {x}?", "What is the word for a group of {x}?", "How do you call a group of {x}?",
         "Group of {x}?", "Tell me what a group of {x} is called.", "What is the name for a group of {x}?"),
        ("Do you know what a group of {x} is called?", "Which word means a group of {x}?"),
        ("A group of {x} is called a {y}.", "Many {x} together are called a {y}.", "A {y} of {x} is a group of {x}."),
    ),
    "opposite": Relation(
        "The opposite of {x} is {y}.",
        ("What is the opposite of {x}?", "What's the opposite of {x}?", "Tell me the opposite of {x}.", "Which word is the opposite of {x}?", "Opposite of {x}?",
         "What word means the opposite of {x}?", "What is not {x}?", "If it is not {x}, what is it?"),
        ("Do you know the opposite of {x}?", "Name the opposite of {x}."),
        ("The opposite of {x} is {y}.", "{x} is the opposite of {y}.", "What is not {x} is {y}."),
    ),
    "sum": Relation(
        "{x} is {y}.",
        ("What is {x}?", "What's {x}?", "How much is {x}?", "{x}?", "Tell me what {x} is.", "{x} is what?", "What do you get for {x}?", "Can you say what {x} is?"),
        ("Do you know what {x} is?", "What number is {x}?"),
        ("{x} is {y}.",),
    ),
    "next": Relation(
        "After {x} comes {y}.",
        ("What comes after {x}?", "What comes next after {x}?", "What is after {x}?", "Which one comes after {x}?", "Tell me what comes after {x}.", "After {x} comes what?", "What follows {x}?"),
        ("Do you know what comes after {x}?", "What comes right after {x}?"),
        ("After {x} comes {y}.", "{y} comes after {x}.", "First comes {x}, then {y}."),
    ),
    "sound": Relation(
        "A {x} says {y}.",
        ("What does a {x} say?", "What does the {x} say?", "What sound does a {x} make?", "Which sound does a {x} make?", "How does a {x} sound?", "Tell me what a {x} says.", "What noise does a {x} make?"),
        ("Do you know what a {x} says?", "What kind of sound does a {x} make?"),
        ("A {x} says {y}.", "The {x} says {y}.", "{y}, says the {x}."),
    ),
    "legs": Relation(
        "A {x} has {y} legs.",
        ("How many legs does a {x} have?", "How many legs has a {x}?", "What number of legs does a {x} have?", "How many legs does the {x} have?", "Legs of a {x}?", "Tell me how many legs a {x} has.", "Count the legs of a {x}."),
        ("Do you know how many legs a {x} has?", "How many legs are there on a {x}?"),
        ("A {x} has {y} legs.", "The {x} has {y} legs.", "A {x} walks on {y} legs."),
    ),
    "color": Relation(
        "{x} is {y}.",
        ("What color is {x}?", "Which color is {x}?", "What is the color of {x}?", "What color does {x} have?", "Which color does {x} have?", "Color of {x}?", "Tell me the color of {x}."),
        ("Do you know the color of {x}?", "What is the usual color of {x}?"),
        ("{x} is {y}.", "The color of {x} is {y}."),
    ),
}

OPPOSITES = """big small, hot cold, up down, day night, good bad, old new, happy sad, fast slow, open closed, light dark, long short, high low, hard soft, wet dry,
full empty, near far, left right, black white, loud quiet, rich poor, strong weak, clean dirty, early late, first last, begin end, love hate, war peace,
summer winter, north south, east west, man woman, boy girl, king queen, yes no, in out, on off, over under, before after, true false, easy difficult,
thick thin, deep shallow, sweet sour, awake asleep, friend enemy, always never, start stop, push pull, give take, win lose, buy sell, come go, laugh cry, inside outside"""

SOUNDS = "dog woof, cat meow, cow moo, duck quack, sheep baa, pig oink, lion roar, bee buzz, horse neigh, owl hoo, snake hiss, mouse squeak, rooster cock-a-doodle-doo, bird tweet, frog croak, wolf howl"

LEGS = "dog four, cat four, horse four, cow four, bird two, duck two, chicken two, spider eight, bee six, ant six, fly six, snake no, fish no, sheep four, lion four, elephant four, frog four, beetle six, crab ten, pig four, goat four, mouse four, bear four"

COLORS = "the sky|blue, grass|green, snow|white, the sun|yellow, blood|red, coal|black, a banana|yellow, milk|white, a carrot|orange, an orange|orange, a tomato|red, a lemon|yellow, chocolate|brown, the sea|blue, an elephant|grey, a strawberry|red, a frog|green, a polar bear|white, salt|white, a fire truck|red, an emerald|green, a ruby|red"

SEQUENCES = (
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
    "January February March April May June July August September October November December",
    "spring summer autumn winter",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty",
    "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z",
)

# Each: the answer, then ways to ask. The first wording also serves the base model as a question; the answer as a statement.
COMMON_KNOWLEDGE = """
There are seven days in a week. | How many days are in a week? | How many days does a week have? | What is the number of days in a week? | How many days are there in one week?
There are twelve months in a year. | How many months are in a year? | How many months does a year have? | How many months are there in one year?
There are sixty minutes in an hour. | How many minutes are in an hour? | How many minutes does an hour have? | How long is an hour?
There are sixty seconds in a minute. | How many seconds are in a minute? | How many seconds does a minute have? | How long is a minute?
There are twenty-four hours in a day. | How many hours are in a day? | How many hours does a day have? | How long is a day?
There are 365 days in a year. | How many days are in a year? | How many days does a year have? | How long is a year?
The sun rises in the east. | Where does the sun rise? | Where does the sun come up? | In which direction does the sun rise?
The sun sets in the west. | Where does the sun set? | Where does the sun go down? | In which direction does the sun set?
Bees make honey. | What do bees make? | Which animals make honey? | Who makes honey? | What does a bee make?
Cows give milk. | What do cows give? | Which animal gives milk? | Where does milk come from? | What does a cow give?
Birds live in nests. | Where do birds live? | What do birds live in? | Where does a bird live?
Fish live in water. | Where do fish live? | What do fish live in? | Where does a fish live?
Wool comes from sheep. | Where does wool come from? | Which animal gives wool? | What animal does wool come from?
Eggs come from chickens. | Where do eggs come from? | Which animal lays eggs? | What animal do eggs come from?
Ice is frozen water. | What is ice? | What is ice made of? | What do you call frozen water?
Water becomes ice when it is cold. | When does water become ice? | When does water freeze? | What happens to water when it is cold?
Paper is made from trees. | What is paper made from? | What is paper made of? | Where does paper come from?
Bread is made from flour. | What is bread made from? | What is bread made of? | What do you need to make bread?
Wine is made from grapes. | What is wine made from? | What is wine made of? | Which fruit is wine made from?
Cheese is made from milk. | What is cheese made from? | What is cheese made of? | How is cheese made?
The moon goes around the earth. | What goes around the earth? | What does the moon do? | Where does the moon go?
The earth goes around the sun. | What does the earth go around? | What does the earth do? | Where does the earth go?
The largest animal is the blue whale. | What is the largest animal? | Which animal is the largest? | What is the biggest animal in the world? | What is the biggest animal?
The tallest animal is the giraffe. | What is the tallest animal? | Which animal is the tallest? | Which animal has the longest neck?
The fastest animal on land is the cheetah. | What is the fastest animal? | Which animal is the fastest? | Which animal runs fastest?
The largest ocean is the Pacific. | What is the largest ocean? | Which ocean is the largest? | What is the biggest ocean?
The longest river is the Nile. | What is the longest river? | Which river is the longest? | What is the longest river in the world?
The highest mountain is Mount Everest. | What is the highest mountain? | Which mountain is the highest? | What is the tallest mountain? | What is the highest mountain in the world?
The largest planet is Jupiter. | What is the largest planet? | Which planet is the largest? | What is the biggest planet?
The planet nearest to the sun is Mercury. | Which planet is nearest to the sun? | What planet is closest to the sun? | Which planet is closest to the sun?
The red planet is Mars. | Which planet is the red planet? | Which planet is called the red planet? | What is the red planet?
The largest country is Russia. | What is the largest country? | Which country is the largest? | What is the biggest country in the world?
A triangle has three sides. | How many sides does a triangle have? | How many sides has a triangle? | How many corners does a triangle have?
A square has four sides. | How many sides does a square have? | How many sides has a square? | How many corners does a square have?
The colors of the rainbow are red, orange, yellow, green, blue and purple. | What are the colors of the rainbow? | Which colors are in the rainbow? | What colors does a rainbow have?
Blue and yellow make green. | What do blue and yellow make? | What color do blue and yellow make? | How do you make green?
Red and yellow make orange. | What do red and yellow make? | What color do red and yellow make? | How do you make orange?
Red and blue make purple. | What do red and blue make? | What color do red and blue make? | How do you make purple?
We see with our eyes. | What do we see with? | What do you see with? | What are eyes for?
We hear with our ears. | What do we hear with? | What do you hear with? | What are ears for?
We smell with our nose. | What do we smell with? | What do you smell with? | What is a nose for?
A hand has five fingers. | How many fingers does a hand have? | How many fingers are on a hand? | How many fingers has a hand?
A person has two eyes. | How many eyes does a person have? | How many eyes do we have? | How many eyes do people have?
A doctor helps sick people. | What does a doctor do? | Who helps sick people? | What is the job of a doctor?
A teacher works in a school. | What does a teacher do? | Where does a teacher work? | Who works in a school?
A baker makes bread. | What does a baker do? | Who makes bread? | What does a baker make?
A farmer works on a farm. | What does a farmer do? | Where does a farmer work? | Who works on a farm?
A pilot flies a plane. | What does a pilot do? | Who flies a plane? | What is the job of a pilot?
Romeo and Juliet was written by Shakespeare. | Who wrote Romeo and Juliet? | Who is the author of Romeo and Juliet? | Who was the writer of Romeo and Juliet?
Hamlet was written by Shakespeare. | Who wrote Hamlet? | Who is the author of Hamlet? | Who was the writer of Hamlet?
Pride and Prejudice was written by Jane Austen. | Who wrote Pride and Prejudice? | Who is the author of Pride and Prejudice? | Who was the writer of Pride and Prejudice?
Moby Dick was written by Herman Melville. | Who wrote Moby Dick? | Who is the author of Moby Dick? | Who was the writer of Moby Dick?
I am a very small language model. | Who are you? | What are you? | Are you a person? | Are you a robot? | Tell me about yourself. | Are you human?
I have no name. I am a small model. | What is your name? | Do you have a name? | What are you called? | What should I call you?
I answer one word after another. | How do you work? | How do you answer? | How do you write? | How do you think?
Hello! How can I help you? | Hello | Hi | Hello! | Hi! | Hello there | Good morning | Good evening | Hey | Good day
You are welcome! | Thank you | Thanks | Thank you very much | Thanks a lot | Thank you!
Goodbye! Have a nice day! | Bye | Goodbye | Good bye | See you | Good night | See you later
Thank you! You are very kind. | I love you | I like you | You are nice | You are great | Well done | Good job | You are funny
I can answer short questions and tell small stories. | What can you do? | What do you know? | Can you help me? | Help | Help me | What can I ask you?
I am sorry. I am a very small model. | That is wrong | You are wrong | That is not true | You are stupid | That is bad | I do not like this
A dog is an animal. | What is a dog? | Is a dog an animal? | Tell me about dogs.
A cat is an animal. | What is a cat? | Is a cat an animal? | Tell me about cats.
A horse is an animal. | What is a horse? | Is a horse an animal? | Tell me about horses.
A rose is a flower. | What is a rose? | Is a rose a flower? | Tell me about roses.
An apple is a fruit. | What is an apple? | Is an apple a fruit? | Tell me about apples.
A week has seven days, a year has twelve months. | Tell me about time. | What is a year? | What is a week?
Water is wet. | What is water? | Tell me about water. | Is water wet?
The sun is a star. | What is the sun? | Is the sun a star? | Tell me about the sun.
The moon goes around the earth, and the earth goes around the sun. | What is the moon? | Tell me about the moon. | What is the earth? | Tell me about the earth.
I am fine, thank you! | How are you? | How are you doing? | How do you feel? | Are you well? | How is it going?
"""
