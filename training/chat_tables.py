# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""What the chat model may be asked that has no one answer, and questions that it can't answer: words only."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Open:
    """A question with many good answers: {a}, {b}, ... are drawn from the lists, the first words most often."""

    kind: str
    questions: tuple[str, ...]
    answer: str
    slots: dict[str, tuple[str, ...]]
    about: tuple[str, ...] = field(default=("",))  # fills {x} in the question and the answer
    anything: bool = False  # now and then {x} is a made-up word, so that copying is learned and not a list of words

    @property
    def exponent(self) -> float:
        """Steeper for more slots, so that every question is about equally open: near 20 different answers of 30 at temperature 1."""
        return 0.7 + 0.3 * len(self.slots)


def words(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("\n", " ").split(","))


ANIMALS = words("dog, cat, rabbit, bear, horse, bird, fox, mouse, duck, frog, cow, pig, lion, elephant, owl, monkey, sheep, turtle, fish, wolf, goat, squirrel, tiger, bee")
PEOPLE = words("girl, boy, king, queen, farmer, teacher, baby, old man, old woman, princess")
THINGS = words("""ball, house, tree, car, book, apple, cake, hat, boat, flower, doll, kite, table, chair, door, bed, cup, box, bell, bike, drum, egg, garden, bridge, train, orange, lamp, clock,
coat, shoe, river, road, school, shop, window, star, cookie, pear, banana, stone, letter, picture, key, castle, hill, lake, nose, hand, piano, song""")
LOOKS = words("red, big, old, small, blue, beautiful, new, green, round, heavy, nice, wet, yellow, strange, warm, very far, white, clean, not mine, gone")
STANDS = words("and I like it, but nobody knows it, and it is mine, like the one at home, and so is my hat, in the evening, when it rains, but not for long, and that is good, for a child, in my dream, and very dear to me")
PLACES = words("in the garden, in the park, near the lake, in the forest, on the farm, by the sea, behind the house, on the hill, under a tree, in the rain, at night, in the snow, all day, in the morning, by the river, with a friend")
ACTIVITIES = words("""go for a walk, read a book, call a friend, draw a picture, bake a cake, listen to music, plant a flower, write a letter, play a game, sing a song,
take a nap, ride your bike, watch the birds, visit your grandma, clean your room, fly a kite, make some soup, look at the stars, learn a new word, help a neighbor,
feed the ducks, drink some tea, build a small boat, tell a story, dance a little, pick some flowers, go to the library, paint a wall, swim in the lake, write a poem""")
WHEN = words("today, with a friend, in the afternoon, after dinner, before it rains, with your family, when the sun is out, all by yourself, this evening, and have fun, in the garden, for an hour")
NAMES = words("""Max, Bella, Lucky, Luna, Charlie, Daisy, Rocky, Molly, Buddy, Coco, Teddy, Ruby, Oscar, Lily, Rex, Rosie, Sam, Bruno, Honey, Sunny, Leo, Poppy, Toby, Ginger,
Felix, Penny, Jack, Ella, Milo, Ben, Lola, Finn, Nina, Otto, Pepper, Snowy, Tiger, Star, Hugo, Olive""")
ADJECTIVES = words("little, brave, lost, golden, last, secret, blue, happy, old, silent, red, long, dark, strange, white, quiet, broken, magic, hidden, sleeping")
NOUNS = words("house, dog, garden, river, star, king, book, moon, boy, bird, forest, door, girl, ship, road, night, sea, tree, song, island")
FOODS = words("soup, bread, pasta, rice, fish, pancakes, a salad, eggs, pizza, potatoes, cheese, noodles, beans, a sandwich, chicken, tomato soup, apple pie, porridge, carrots, mushrooms")
WITH_FOOD = words("with some bread, with butter, with a little salt, and an apple, with cheese, with vegetables, and a cup of tea, with tomatoes, and some milk, with lemon, with a friend, and some fruit")
DID = words("ran, slept, played, sang a song, ate an apple, sat, jumped, danced, found a ball, looked at the moon, waited, laughed, saw a friend, made a house, lost a shoe, read a book, hid, dug a hole, drank some water, told a story")
WANTED = words("find a friend, see the sea, fly, eat a big cake, climb the tall tree, learn to swim, go home, sing, find a red ball, see the snow, build a house, touch the moon, sleep, win a race, cook a soup, ride a horse")
ENDED = words("was very happy, made a new friend, came home late, laughed all day, slept very well, never forgot it, told everybody, sang a song, ate a big cake, danced with joy, was tired but glad, said thank you")
COLORS = words("blue, green, red, yellow, purple, orange, pink, white, brown, black, gold, silver, grey, violet, light blue, dark green")
COLOR_WHY = words("It is the color of the sky., It makes me happy., It is warm and bright., It looks good on everything., It is like the sea., It is calm., It is like a flower., It is the best one., My ball has it., I saw it in a dream.")
COUNTRIES = words("""France, Italy, Japan, Spain, Greece, Canada, Egypt, Brazil, Germany, Ireland, India, Norway, Mexico, Peru, Iceland, Kenya, Portugal, China, Sweden, Chile, Turkey, Australia,
Finland, Morocco, Cuba, Poland, Nepal, Vietnam, Austria, Thailand""")
THERE = words("see the old houses, swim in the sea, eat good food, walk in the hills, look at the birds, meet nice people, take a train, see the mountains, learn the language, drink tea, listen to music, sleep in a tent")
JOBS = words("teacher, doctor, baker, farmer, writer, singer, cook, painter, pilot, gardener, nurse, builder, dancer, driver, sailor, tailor, farmer on an island, clown, judge, shop keeper")
JOB_WHY = words("You can help people., It is fun., You would be good at it., You learn something every day., You meet many people., You can work outside., It is never boring., You can make things., You get up early., You can be proud of it.")
GIFTS = words("a book, a plant, a cake, a cup, a scarf, a picture, a game, flowers, a hat, a box of tea, a song, a puzzle, a kite, a ball, a letter, a lamp, a pen, socks, a basket of fruit, a drum")
GIFT_HOW = words("in a nice box, with a card, with a red ribbon, with a kiss, and a hug, in blue paper, with a poem, and a smile, early in the morning, with some sweets")
FEELINGS = words("happy, good, calm, fine, excited, curious, tired, glad, quiet, hungry, lucky, sleepy, proud, a little sad, brave, warm")
FEEL_WHY = words("The sun is out., I had a good day., I can talk to you., I slept well., I like your question., It is a new day., I learned a word., I heard a song., It is raining., I read a book.")
WEATHERS = words("sunny, warm, cold, rainy, windy, cloudy, hot, nice, wet, snowy, grey, stormy, foggy, mild, bright, dry")
WEATHER_DO = words("Take a coat., Let us go out., Stay at home., Take an umbrella., You can swim., Drink something warm., Let us fly a kite., Wear a hat., Open the window., Look at the sky.")
KIND_WORDS = words("You are kind, You are clever, You are brave, You have a good heart, You are a good friend, You are funny, You are strong, You ask good questions, You have a nice smile, You are patient, You are full of ideas, You are honest, You are gentle, You work hard, You listen well, You are special")
KIND_MORE = words("I like that., Never forget it., Keep it up., People like you., The world needs you., I am glad you are here., That is rare., You can be proud., It makes me smile., Thank you.")
WISHES = words("a happy day, good luck, a lot of joy, many friends, a big cake, good health, a warm bed, sweet dreams, much love, a new bike, sunny days, a long life, peace, a good year, fun, music")
WISH_MORE = words("and a lot of fun, and many hugs, and good food, and no rain, and a little rest, and a big smile, and all the best, and a good night, and warm hands, and time to play")
SEA_SEEN = words("The water is blue, The waves are high, The sand is warm, A ship goes by, The birds are loud, The fish are quick, The wind is strong, It smells of salt, The sun goes down, A child looks for shells, The sky is wide, The stones are round, A dog runs, Nobody is there, The boats are small, It is quiet")
SEA_MORE = words("and the sky is clear, and the wind is cold, and I can hear the waves, and children play, and it is a good day, and a dog is swimming, and the moon comes up, and far away there is an island, and I want to stay, and my feet are wet")
CALM = words("Drink some warm milk, Read a book, Close your eyes, Listen to the rain, Count some sheep, Turn off the light, Think of the sea, Take a deep breath, Sing a quiet song, Open the window, Think of a friend, Lie still, Hold a teddy bear, Tell a story, Look at the moon, Take a warm bath")
CALM_MORE = words("and you will sleep soon, and do not worry, and be quiet, and think of nothing, and breathe slowly, and wait, and all will be well, and dream of flowers, and relax, and say good night")
ROSE_LINES = words("The sun is warm, The moon is bright, The sky is blue, The night is long, The bird can sing, The rose is red, The snow is white, The wind is cold, The tree is tall, The sea is deep, The stars are far, The day is new, The grass is green, The rain is soft, The house is small, The road is long")
ROSE_ENDS = words("and so are you., and I am here., and all is well., and I can sing., and you can sleep., and summer ends., and nobody knows., and I am glad., and time goes by., and we go home.")
GAMES = words("hide and seek, chess, football, cards, catch, a word game, tag, a puzzle, a board game, ball, a memory game, dress up, a guessing game, table tennis, pirates, shop")
HOBBIES = words("reading, painting, singing, cooking, dancing, running, swimming, gardening, chess, fishing, baking, writing, sewing, hiking, drawing, music")
HOBBY_WHY = words("It is fun., It is good for you., You can do it at home., You can do it with friends., It makes you calm., It is easy to start., You learn a lot., It costs nothing., It is never boring., You can do it all year.")
SECRETS = words("I love cookies, I can not swim, I once lost a shoe, I talk to cats, I am afraid of mice, I sing at night, I like rain, I have a red hat, I hid a coin, I dream of flying, I ate your cake, I count the stars, I sleep all day, I like spiders, I know a king, I never sleep")
SECRET_MORE = words("Do not tell anyone., Now you know., Please keep it., It is true., Nobody knows it., Is that strange?, I feel better now., Tell me yours., Shh!, It is a big secret.")
PETS, FARM, WILD = words("dog, cat, rabbit, mouse, bird, fish, hamster, turtle, parrot, snake"), words("cow, horse, pig, sheep, duck, goat, chicken, goose, donkey, turkey"), words("lion, bear, elephant, tiger, monkey, wolf, fox, giraffe, zebra, snake")
FRUIT, DAIRY, OTHER = words("apples, bananas, pears, oranges, grapes, plums, lemons, berries, peaches, tomatoes"), words("milk, cheese, butter, eggs, cream, yogurt, bread, rice, flour, oil"), words("bread, tea, sugar, salt, coffee, soap, honey, nuts, jam, soup")
BAG_A, BAG_B, BAG_C = words("a book, a map, a hat, a coat, a knife, a lamp, a tent, a cup, a rope, a pen"), words("some water, some bread, an apple, some cheese, some nuts, a cake, some tea, an egg, some milk, a pear"), words("a warm coat, good shoes, a camera, a blanket, a friend, an umbrella, some money, a towel, a song, a bell")

CREATURES = words("dragon, unicorn, whale, robot, pirate, witch, ghost, giant, prince, wizard, snake, spider, butterfly, crocodile, penguin, camel, hedgehog, snail, crab, star, tree, cloud, train, shoe, clock, ship, flower, snowman, doll, stone")
DRINKS_AND_FOODS = words("pizza, cake, soup, rice, bread, ice cream, pasta, apple pie, cheese, chocolate, pancakes, honey, fish, potatoes, salad, cookies, strawberries, eggs, noodles, tea")
TASTE = words("It tastes so good., I could eat it every day., My grandma makes it., It is sweet., It makes me happy., It is warm., I can not eat, but I like the word., It smells good., It is easy to make., Everybody likes it.")
LIKED = words("cats, dogs, music, cake, books, rain, school, snow, flowers, games, fish, the sea, pizza, horses, stories, birds, summer, winter, apples, stars")
OPINIONS = words("I like {x} very much, I am happy with {x}, I love {x}, I think of {x} every day, I know a song about {x}, I dream of {x}, I can not live without {x}, I do not like {x} so much, I have never seen {x}, I like {x} and you, nobody likes {x} more than I, I am afraid of {x}, I like {x} in the morning, I could talk about {x} all day, I wrote a poem about {x}, I want more of {x}")
OPINION_MORE = words("Do you?, What about you?, And you?, Who does not?, It is true., I do not know why., Since I was small., Tell me more., My friend does, too., It is a long story.")
JOKE_WHO = words("the cow, the duck, the dog, the cat, the mouse, the king, the fish, the bear, the chicken, the egg, the owl, the pig, the clock, the snowman, the bee, the sheep")
JOKE_DID = words("cross the road, go to school, wear a hat, sit on the clock, laugh, eat the book, sleep in the box, jump over the moon, bring a ladder, sing so loud, buy a car, run home")
JOKE_WHY = words("It wanted to see the other side., Nobody told it not to., It was late., It had no shoes., It was Monday., It lost its key., The bus was full., It was too hot., It liked the color., It wanted to be funny.")
FRUITS = words("An apple, A pear, A banana, A plum, An orange, A lemon, A peach, A cherry, A grape, A melon, A berry, A strawberry, A fig, A kiwi, A mango, A lime")
FRUIT_MORE = words("It is sweet., It is red., It grows on a tree., I like it., It is good for you., It is yellow., It is round., You can make a cake with it., It is small., It is juicy.")
LETTER_TO = words("friend, mother, Tom, Anna, teacher, grandma, sister, Max, father, Lily, neighbor, king, brother, Mia, uncle, aunt")
LETTER_SAYS = words("how are you, I miss you, thank you for the book, come and see me, I am fine, it is raining here, I have a new dog, happy birthday, the cake was good, I will come on Sunday, I found your hat, school is fun, I am sorry, the sea is blue, please write to me, I saw a fox")
LETTER_END = words("Your friend, Love, See you soon, Bye, With a hug, Many kisses, Yours, Take care, Best wishes, Good night")
I_WISH = words("I wish I could fly, I wish I had a dog, I wish it were summer, I wish you were here, I wish I could sing, I wish I had a boat, I wish I were tall, I wish it would snow, I wish for a cake, I wish I could sleep, I wish I knew more, I wish I had a friend, I wish I lived by the sea, I wish I were a bird, I wish the rain would stop, I wish I had wings")
WISH_THEN = words("and see the world, and be happy, all day long, more than anything, every night, and play with you, and never stop, just once, tomorrow, and laugh")
TO_DRAW = words("a house, a dog, a big sun, a ship, a tree, a castle, your hand, a cat, a flower, the moon, a fish, your family, a dragon, an apple, a car, a bird, a bridge, a king, a snowman, your room")
DRAW_HOW = words("in the rain, with a hat, in blue, at night, on a hill, with many colors, near the sea, with a smile, in the snow, with a friend")
MOTTO_A = words("Be kind, Go slowly, Try again, Ask questions, Laugh a lot, Work hard, Keep calm, Look up, Read more, Be brave, Share your bread, Take your time, Sleep well, Listen first, Start small, Never stop")
MOTTO_B = words("and smile, and never give up, and help others, every day, and be happy, and trust your friends, and look around, and learn, and do not worry, and sing")

OPEN_QUESTIONS = (
    Open("advice", ("What should I do today?", "What can I do today?", "I am bored. What should I do?", "I am bored.", "Give me an idea for today.", "What should I do?", "advice", "An idea?", "Tell me what to do today.", "Do you have an idea for me?", "Give me some advice.", "I need advice.", "What should I do now?", "What would you do today?"),
         "You should {a} {b}.", {"a": ACTIVITIES, "b": WHEN}),
    Open("sentence", ("Write a sentence about a {x}.", "Tell me something about a {x}.", "Say something about a {x}.", "Write one sentence about a {x}.", "Make a sentence with the word {x}.", "Write a short sentence about a {x}.", "A sentence about a {x}", "sentence with {x}"),
         "The {x} {a} {b}.", {"a": DID, "b": PLACES}, ANIMALS + PEOPLE),
    Open("sentence about a thing", ("Write a sentence about a {x}.", "Tell me something about a {x}.", "Say something about a {x}.", "Write one sentence about a {x}.", "Make a sentence with the word {x}.", "Write a short sentence about a {x}.", "A sentence about a {x}", "sentence with {x}"),
         "The {x} is {a} {b}.", {"a": LOOKS, "b": STANDS}, THINGS, anything=True),
    Open("story", ("Tell me a story.", "Write a story.", "Write a short story.", "Tell a story.", "Can you tell me a story?", "I want to hear a story.", "Please tell me a short story.", "a story", "A story, please."),
         "Once there was a {a}. It wanted to {b}. It went out and {c}. In the end, it {d}.", {"a": ANIMALS, "b": WANTED, "c": DID, "d": ENDED}),
    Open("story about", ("Tell me a story about a {x}.", "Write a story about a {x}.", "Write a short story about a {x}.", "Can you tell me a story about a {x}?", "I want a story about a {x}.", "A story about a {x}", "story about a {x}"),
         "Once there was a {x}. It wanted to {a}. It went out and {b}. In the end, it {c}.", {"a": WANTED, "b": DID, "c": ENDED}, ANIMALS + PEOPLE + CREATURES, anything=True),
    Open("pet name", ("Give me a name for a {x}.", "What is a good name for a {x}?", "How should I call my {x}?", "I have a new {x}. What should I call it?", "Find a name for my {x}.", "Suggest a name for a {x}.", "name for a {x}", "A good name for a {x}?", "name for my {x}", "I need a name for my {x}."),
         "You could call it {a}. {b}", {"a": NAMES, "b": words("It is a good name., It is short., It is easy to say., I like it., It sounds nice., It is a happy name., Everybody will like it., It is a brave name., Why not?, It fits.")}, ANIMALS),
    Open("book title", ("Give me a title for a book.", "What is a good title for a book?", "Find a title for my book.", "Suggest a title for a story.", "What should I call my book?", "I need a title for my story.", "book title", "A title?"),
         "The {a} {b}", {"a": ADJECTIVES, "b": NOUNS}),
    Open("dinner", ("What should I eat?", "What should I cook?", "What should I have for dinner?", "What can I cook tonight?", "I am hungry. What should I eat?", "I am hungry.", "Give me an idea for dinner.", "What is good for dinner?", "dinner", "food", "What should I eat tonight?"),
         "You could make {a} {b}.", {"a": FOODS, "b": WITH_FOOD}),
    Open("color", ("What is your favorite color?", "Which color do you like?", "Name a color.", "Tell me a nice color.", "What color should I paint my room?", "Choose a color.", "Which color is the best?"),
         "I like {a}. {b}", {"a": COLORS, "b": COLOR_WHY}),
    Open("travel", ("Where should I go on holiday?", "Where should I travel?", "Which country should I visit?", "Name a country.", "Give me an idea for a trip.", "Where can I go this summer?", "I want to travel. Where should I go?", "travel idea"),
         "Go to {a}. You can {b} there.", {"a": COUNTRIES, "b": THERE}),
    Open("job", ("What job should I do?", "Which job is good for me?", "What should I become?", "Give me an idea for a job.", "What should I be when I grow up?", "Name a good job."),
         "You could be a {a}. {b}", {"a": JOBS, "b": JOB_WHY}),
    Open("gift", ("What should I give my friend?", "What is a good gift?", "Give me an idea for a gift.", "What can I give my mother for her birthday?", "I need a gift for my friend.", "What is a good present?", "gift idea", "present for my friend"),
         "You could give {a} {b}.", {"a": GIFTS, "b": GIFT_HOW}),
    Open("mood", ("How do you feel today?", "How do you feel now?", "What is your mood?", "Are you happy?", "How was your day?", "Are you happy today?"),
         "I feel {a}. {b}", {"a": FEELINGS, "b": FEEL_WHY}),
    Open("weather", ("What is the weather like?", "How is the weather?", "Talk about the weather.", "Is it cold today?", "What is the weather like today?", "Describe the weather."),
         "It is {a} today. {b}", {"a": WEATHERS, "b": WEATHER_DO}),
    Open("compliment", ("Say something nice.", "Tell me something nice.", "Say something kind.", "Give me a compliment.", "Cheer me up.", "I am sad.", "I feel sad.", "Say something nice to me."),
         "{a}. {b}", {"a": KIND_WORDS, "b": KIND_MORE}),
    Open("wish", ("Write a birthday wish.", "It is my birthday.", "Today is my birthday.", "What do you wish me?", "Write a wish for my friend.", "Write a birthday card."),
         "I wish you {a} {b}.", {"a": WISHES, "b": WISH_MORE}),
    Open("description", ("Describe the sea.", "What is the sea like?", "Tell me about the sea.", "Write about the sea.", "Describe a day at the sea.", "What do you see at the sea?"),
         "{a}, {b}.", {"a": SEA_SEEN, "b": SEA_MORE}),
    Open("sleep advice", ("How can I sleep better?", "I can not sleep.", "I can not sleep. What can I do?", "What helps me to sleep?", "How do I fall asleep?", "Give me a tip for sleeping."),
         "{a}, {b}.", {"a": CALM, "b": CALM_MORE}),
    Open("poem", ("Write a poem.", "Write a short poem.", "Tell me a poem.", "Can you write a poem?", "Say a poem.", "I want a poem.", "poem", "A short poem, please.", "Write me a poem."),
         "{a}, {b}", {"a": ROSE_LINES, "b": ROSE_ENDS}),
    Open("game", ("What should we play?", "Which game should we play?", "Give me an idea for a game.", "Name a game.", "What game can we play?", "Let us play. What do you want to play?"),
         "Let us play {a} {b}.", {"a": GAMES, "b": PLACES}),
    Open("hobby", ("What is a good hobby?", "Give me an idea for a hobby.", "Which hobby should I try?", "Name a hobby.", "I need a hobby.", "hobby", "What hobby do you like?"),
         "Try {a}. {b}", {"a": HOBBIES, "b": HOBBY_WHY}),
    Open("secret", ("Tell me a secret.", "Do you have a secret?", "What is your secret?", "I want to hear a secret.", "Tell me something that nobody knows.", "Say something strange."),
         "{a}. {b}", {"a": SECRETS, "b": SECRET_MORE}),
    Open("joke", ("Tell me a joke.", "Do you know a joke?", "Make me laugh.", "Tell a joke.", "Say something funny.", "I want to hear a joke.", "Tell me something funny.", "joke", "A joke, please."),
         "Why did {a} {b}? {c}", {"a": JOKE_WHO, "b": JOKE_DID, "c": JOKE_WHY}),
    Open("food", ("What is your favorite food?", "What do you like to eat?", "Which food do you like?", "Name a food.", "What food is the best?", "What tastes good?"),
         "I like {a}. {b}", {"a": DRINKS_AND_FOODS, "b": TASTE}),
    Open("opinion", ("Do you like {x}?", "What do you think about {x}?", "Do you love {x}?", "What do you think of {x}?", "Tell me what you think about {x}."),
         "{a}. {b}", {"a": OPINIONS, "b": OPINION_MORE}, LIKED),
    Open("animal", ("What is your favorite animal?", "Which animal do you like?", "Name an animal.", "Tell me a nice animal.", "Which animal is the best?", "Choose an animal."),
         "I like the {a}, because it {b}.", {"a": ANIMALS, "b": words("is kind, is so funny, can run fast, is small, has a nice nose, sleeps all day, can swim, sings, is brave, looks like my friend, is soft, never talks")}),
    Open("fruit", ("Name a fruit.", "What is your favorite fruit?", "Tell me a fruit.", "Which fruit do you like?", "Give me a fruit.", "Choose a fruit."),
         "{a}. {b}", {"a": FRUITS, "b": FRUIT_MORE}),
    Open("letter", ("Write a letter.", "Write a short letter.", "Write a letter to my friend.", "Write an email.", "Write a message.", "Write a note to my friend.", "Can you write a letter?"),
         "Dear {a}, {b}. {c}", {"a": LETTER_TO, "b": LETTER_SAYS, "c": LETTER_END}),
    Open("own wish", ("What do you wish?", "Do you have a wish?", "Make a wish.", "What do you want?", "Tell me a wish.", "Finish the sentence: I wish", "What is your dream?"),
         "{a} {b}.", {"a": I_WISH, "b": WISH_THEN}),
    Open("drawing", ("What should I draw?", "What should I paint?", "Give me an idea for a picture.", "I want to draw something.", "What can I draw?", "Give me an idea for a drawing."),
         "Draw {a} {b}.", {"a": TO_DRAW, "b": DRAW_HOW}),
    Open("motto", ("Give me a motto.", "What is a good motto?", "Tell me something wise.", "What is the secret of a good life?", "How can I be happy?", "Give me a rule for life.", "How do I become happy?"),
         "{a} {b}.", {"a": MOTTO_A, "b": MOTTO_B}),
    Open("animal list", ("Name three animals.", "List three animals.", "Give me a list of animals.", "Write a list of three animals.", "Tell me three animals.", "Which animals do you know?", "three animals", "a list of animals"),
         "A {a}, a {b} and a {c}.", {"a": PETS, "b": FARM, "c": WILD}),
    Open("shopping list", ("Write a shopping list.", "What should I buy?", "Make a shopping list.", "What do I need from the shop?", "Give me a shopping list.", "What should I buy at the shop?", "shopping list"),
         "Buy {a}, {b} and {c}.", {"a": FRUIT, "b": DAIRY, "c": OTHER}),
    Open("packing list", ("What should I put in my bag?", "What should I take with me?", "What do I need for a trip?", "Make a packing list.", "Write a list for my trip.", "What should I pack?"),
         "Take {a}, {b} and {c}.", {"a": BAG_A, "b": BAG_B, "c": BAG_C}),
    Open("dream", ("What did you dream?", "Tell me your dream.", "What did you dream last night?", "Tell me about a dream.", "What do you dream of?", "Do you dream?"),
         "I dreamed of a {a} {b} {c}.", {"a": ADJECTIVES, "b": ANIMALS, "c": PLACES}),
)

# Each is asked with a thing that does not exist, or that the model was never told. {n} made-up word, {p} person, {t} title, {c} country, {r} real town, {o} thing, {k} color.
UNKNOWN_QUESTIONS = """
Who is {p}?|Who was {p}?|Where does {p} live?|How old is {p}?|When was {p} born?|Where was {p} born?|What did {p} write?|What is {p} known for?|Tell me about {p}.|Do you know {p}?
What did {p} invent?|Is {p} a singer?|What is the job of {p}?|Who is the mother of {p}?|Who is the wife of {p}?|Why is {p} famous?|When did {p} die?|What did {p} say?
Who wrote {t}?|Who is the author of {t}?|Who was the writer of {t}?|What is {t} about?|Who painted {t}?|When was {t} written?|Who sings {t}?|Who is the hero of {t}?|How does {t} end?
What is a {n}?|What is {n}?|What does {n} mean?|What is the meaning of {n}?|What does the word {n} mean?|Where can I buy a {n}?|How do I use a {n}?|How does a {n} work?|Explain {n}.|Define {n}.
How do you make a {n}?|How big is a {n}?|What does a {n} eat?|Where does a {n} live?|How do you cook {n}?|Why is {n} important?|When was {n} built?|Who invented the {n}?|Tell me about {n}.
What is {n} made of?|What is the price of {n}?|How much does a {n} cost?|How do you spell {n}?|What is a {n} for?|Who lives in {n}?|How do I get to {n}?|Is {n} a city?|How far is {n}?
Who is the president of {c}?|Who is the king of {c}?|How many people live in {c}?|What is the population of {c}?|How big is {c}?|What do people eat in {c}?|When was {c} founded?|Who is the queen of {c}?
How old is {c}?|What is the largest city in {c}?|What is the flag of {c}?|Who discovered {c}?|How is the weather in {c}?|What is the longest river in {c}?|How far is {c}?|Who won the war in {c}?
How many people live in {r}?|Who is the mayor of {r}?|How big is {r}?|How far is it to {r}?|What can I see in {r}?|When was {r} founded?|How do I get to {r}?|In which country is {r}?
What is my name?|How old am I?|What did I eat yesterday?|Where do I live?|What am I thinking?|What is in my pocket?|Who is my mother?|What is my favorite color?|Where is my key?|What do I want?
What time is it?|What day is it?|What is the date?|Who won the game last night?|What is the news?|What will happen tomorrow?|Will it rain tomorrow?|What is the price of gold?|Who will win?|Who called me?
What is {d} times {d}?|What is {d} minus {d}?|What is {d} divided by {d}?|What is {d} plus {d}?|What is the square root of {d}?|How much is {d} percent of {d}?|What is {d} to the power of {d}?
What is the phone number of {p}?|What is the last number?|How many stars are there?|How many people are there?|How long do we live?|How many fish are in the sea?|What is the biggest number?|How deep is the sea?
Why is the sky blue?|Why do we sleep?|Why do cats sleep so much?|How does a computer work?|How does a phone work?|What is electricity?|What is democracy?|What is love?|What is time?|Why is water wet?
What is the theory of {n}?|Translate {n} into French.|How do you say {n} in Spanish?|Write a program in {n}.|Write code for {n}.|Solve the equation {n}.|Explain the history of {n}.|What is the law of {n}?
Explain {n} to me.|Write a letter to {p}.|Write an essay about {n}.|Summarize {t}.|Compare {n} and {n}.|Call {p}.|Open the {n}.|Send a message to {p}.|Play {t}.|Draw a {n}.
Why do birds fly?|Why do dogs bark?|Why is the grass green?|Why do we dream?|Why do people laugh?|Why is fire hot?|Why do cats like milk?|How do magnets work?|How do planes fly?|How do fish sleep?
How are you made?|How many words do you know?|Who made you?|Where are you?|How old are you?|What did you do yesterday?|Do you like me?|Can you see me?|Can you swim?|Do you speak {n}?
What is the fastest {n}?|What is the largest {n}?|Which {n} is the oldest?|What is the best {n}?|What is the smallest {n}?|What is the strongest {n}?|Which {n} is the most beautiful?|What is the longest {n}?
What is the fastest {o}?|What is the largest {o}?|Which {o} is the oldest?|What is the best {o}?|What is a {k} {o}?|What is the price of a {k} {o}?|Where is the {k} {o}?|Who has a {k} {o}?|Why is my {o} {k}?|What is a {n} {o}?
When did the war begin?|Who was the first man?|When was the wheel invented?|Who invented the telephone?|Who discovered America?|When did Rome fall?|What caused the war?|Who built the pyramids?
"""

PLACES_OF_FICTION = words("""Mars, Venus, the moon, the sun, Jupiter, Saturn, Atlantis, Narnia, Gondor, Oz, Lilliput, Camelot, Wonderland, Neverland, heaven, hell, space, my house, your house, the sea,
the sky, nowhere, Utopia, Eldorado, Avalon, Antarctica, the ocean, the forest, the world, Europe, Asia, Africa, my dog, a cat, the internet""")
