# fmt: off
# ruff: noqa: E501  (tables of words: one wording or list per line, however long)
"""What can happen in a story: the words of the stories, apart from the code that puts them together.

A line is a beat. `[a|b]` means one of the two, the first more often; `{name}` is filled in by stories.py:
{hero} is the hero's name or, now and then, "the little girl"; {he} {him} {his} follow the hero, {fhe} {fhim} {fhis} the friend.
Sentences get their capitals afterwards. After a closing quote a new sentence needs {He} or a capital of its own.
"""

PLOTS = {
    "lost toy": """
{hero} had a {color} {toy}. {he} [loved it very much|took it everywhere].
One {day}, {he} could not find the {toy}. {he} was very sad.
{he} looked [under the bed|behind the door|in the box]. It was not there.
"Have you seen my {toy}?" {he} asked {friend}.
"[No, but I can help you|Let us look together]," said {friend}.
They looked [in the garden|in the kitchen|all over the house]. Then {friend} saw something {color} [under a tree|behind a chair|in the grass].
"[Here it is|I found it]!" said {friend}. {hero} was so happy. {He} gave {friend} a big hug.
""",
    "sharing food": """
One {day}, {mom} gave {hero} a [big|sweet|warm] {food}.
{he} went to the {place} to eat it.
There {he} saw {friend}. {friend} looked [hungry|sad|very hungry].
"What is wrong?" asked {hero}. "I have nothing to eat," said {friend}.
{hero} looked at the {food}. {he} wanted to eat it all. But {he} wanted to be kind, too.
So {he} broke the {food} in two and gave half of it to {friend}.
"Thank you," said {friend}. "[You are a good friend|This is very good|You are so kind]."
They sat [in the sun|under a tree|on the grass] and ate together.
""",
    "new friend": """
{hero} wanted to have a friend. {he} [had nobody to play with|was all alone].
One {day}, {he} went to the {place}. {he} saw {friend} there.
{friend} was playing with a {toy}. {hero} was [shy|a little afraid]. {he} did not know what to say.
Then {friend} smiled. "Hello! My name is {friend}. Do you want to play with me?"
"Yes, please!" said {hero}. {He} was not shy any more.
They played with the {toy} [all day|until it was dark|for a long time].
After that day they were best friends. They played together every day.
""",
    "rain": """
One {day}, {hero} wanted to go to the {place}. {he} put on {his} {clothes}.
But then [it began to rain|the sky became dark and the rain came down].
"Oh no," said {hero}. "[Now I can not go out|I do not like the rain]."
{he} sat at the window and looked at the rain. {he} was sad.
Then {friend} came. "[Look at all the water|The rain is fun]!" said {friend}. "Let us jump in it!"
They ran out and jumped up and down. Splash! Splash! They got very wet, and they laughed [and laughed|a lot].
Soon the rain stopped and the sun came out. They saw a [big|beautiful] rainbow in the sky.
""",
    "the lost baby bird": """
One {day}, {hero} was walking {in_place}. {he} heard a small sound.
It was a baby bird. It had fallen from its nest. It [could not fly|was cold and afraid].
"[Do not be afraid|Poor little bird]," said {hero}. "I will help you."
{he} looked up and saw the nest. It was high up in a tree. {he} could not reach it.
So {he} asked {friend} to help. {friend} was [tall|strong|good at climbing].
{friend} put the bird back in the nest. The mother bird [sang a song|was very happy].
{hero} and {friend} waved. "Good bye, little bird!" they said.
""",
    "learning to ride": """
{hero} got a new bike. It was {color} and [very shiny|had a bell].
{he} sat on the bike, but {he} fell down. "Ouch!" {he} said.
{he} tried again, and {he} fell down again. "I can not do it," said {hero}.
"[Do not give up|Try one more time]," said {friend}. "I will hold the bike for you."
{friend} held the bike, and {hero} began to ride. {he} went slowly at first, and then faster and faster.
Then {friend} let go. {hero} was riding all alone!
"Look at me!" {he} shouted. "I can ride my bike!" {He} was very proud.
""",
    "the cake": """
It was {his} birthday. {hero} [was very happy|woke up early].
{mom} made a big cake. The cake was {color} and smelled very good.
"You must wait for your friends," said {mom}. But {hero} was so hungry.
{he} took [a little bit|one small bite], and then another one. Soon half of the cake was gone.
Then {friend} came. "Where is the rest of the cake?" asked {friend}.
{hero} looked down. "I ate it," {he} said. "I am sorry."
{mom} was not angry. "[Thank you for telling the truth|It is good to tell the truth]," she said. "Let us make a new cake together."
So they made a new cake, and [everybody had some|it was even better].
""",
    "afraid of the dark": """
{hero} was afraid of the dark. At night {he} could not sleep.
One night {he} heard a sound. "What is that?" {he} said. "[Is it a monster|Who is there]?"
{he} [hid under the blanket|called for help]. {his} heart went boom, boom, boom.
{mom} came in with a [small|little] light. "There is nothing to be afraid of," said {mom}.
They looked under the bed together. It was only {scare}!
{hero} laughed. "I was afraid of {scare}," {he} said.
{mom} kissed {him} good night. After that, {hero} was not afraid of the dark any more.
""",
    "the big box": """
One {day}, {hero} found a big box [in the garden|in front of the door|under a tree].
"What is in the box?" {he} asked. {he} wanted to know.
"[Do not open it|Be careful]," said {friend}. "It is not yours."
But {hero} opened the box just a little. Inside there was a {color} {toy}!
"[Wow|Oh]!" said {hero}. "Who lost this {toy}?"
They went from house to house and asked. At last they found {owner}. "That is my {toy}!" said {owner}.
"Thank you for bringing it back. [You are very kind|I was so sad without it]." {hero} felt [good|happy and proud].
""",
    "the race": """
{hero} and {friend} liked to run. One {day}, they had a race [to the big tree|around the {place}].
"I am faster than you," said {friend}. "[We will see|I will try my best]," said {hero}.
One, two, three, go! They ran and ran. {friend} was [far ahead|very fast].
But then {friend} fell down and hurt {fhis} leg. {friend} began to cry.
{hero} stopped running. {he} went back and helped {friend} to stand up.
"You could win the race," said {friend}. "Why did you stop?"
"Because you are my friend," said {hero}. "[That is better than winning|Let us walk together]."
""",
    "planting a seed": """
One {day}, {mom} gave {hero} a small seed. "What is it?" asked {hero}.
"Put it in the ground and give it water every day," said {mom}. "Then you will see."
{hero} made a hole in the garden and put the seed in it. Every day {he} gave it water.
For a long time nothing happened. {hero} was sad. "[It will never grow|Maybe it is sleeping]," {he} said.
"[You must wait|Give it time]," said {mom}.
Then one {day} there was something green in the garden. It grew and grew. It became a [big|beautiful|{color}] flower.
"Look!" said {hero}. "My flower is [as tall as me|so beautiful]!"
""",
    "the mean one": """
There was a big [dog|boy|cat] {in_place}. He was mean. He took {toy_plural} from the little ones.
One {day}, he took the {toy} from {hero}. "Give it back!" said {hero}. But he only laughed.
{hero} went home and cried. {mom} said, "[Maybe he has no friends|Maybe he is sad]."
The next day {hero} went back to the {place} with a {food}.
"Do you want some of my {food}?" {he} asked. "We can play together, too."
The big one looked at the ground. "I am sorry," he said. "Here is your {toy}."
They shared the {food}. After that he was not mean any more.
""",
    "going to the sea": """
One {day}, {hero} went to the sea with {mom} and {friend}.
The water was blue and [cold|very big]. The sand was [warm|soft and warm].
"Let us make a house out of sand," said {friend}. They worked all morning.
Then a big wave came. Whoosh! The house was gone. {hero} began to cry.
"Do not cry," said {friend}. "[We can make a new one|Let us look for shells]."
So they made a new house, even bigger than before. They put a {color} shell on the top.
When the sun went down they went home. {hero} fell asleep [in the car|on the way] and dreamed of the sea.
""",
    "the sick friend": """
One {day}, {friend} did not come to play. {hero} waited and waited.
{he} went to the house of {friend} and knocked on the door. Knock, knock!
{friend} was in bed. {fhe} was sick. {fhis} nose was red.
"[I can not play today|I feel bad]," said {friend}. {hero} wanted to help.
{he} ran home and made [some soup|hot tea|a picture] with {mom}. Then {he} brought it to {friend}.
{hero} read a funny book to {friend}, and {friend} began to laugh.
The next day {friend} felt much better. "You made me well," said {friend}.
""",
    "the snow": """
One {day}, {hero} looked out of the window. [Everything was white|There was snow everywhere]!
{he} put on {his} {clothes} and ran outside. It was very cold.
{hero} and {friend} made a snowman. They gave him a carrot for a nose and a {color} hat.
"Hello, snowman," said {hero}. "[What is your name|Are you cold]?" But the snowman did not say anything.
They threw snow at each other and laughed. Then [their hands were cold|they were tired].
{mom} called, "Come in! I have something warm for you." They drank hot milk.
Then the sun came out, and the snowman got small. "Good bye, snowman," said {hero}. "See you next year."
""",
    "the tall tree": """
There was a very tall tree {in_place}. {hero} wanted to climb it.
"[Do not go too high|It is too high for you]," said {friend}. But {hero} did not listen.
{he} went up and up and up. Then {he} looked down. It was so high! {he} was afraid.
"Help!" {he} called. "I can not come down!"
{friend} ran to get help. Soon a [kind man|tall man|farmer] came with a ladder.
He brought {hero} down. "Thank you," said {hero}. {He} was [still shaking|very glad].
From then on, {hero} listened to {his} friends.
""",
    "the lost way": """
One {day}, {hero} went into the forest to look for [berries|flowers|mushrooms].
{he} walked a long way. Then it became dark, and {he} did not know the way home.
"I am lost," said {hero}. {He} sat down and began to cry.
An old owl sat in a tree. "Why do you cry?" asked the owl.
"I want to go home," said {hero}. "[Follow me|I can see your house from here]," said the owl.
The owl flew from tree to tree, and {hero} went after it. At last {he} saw a light. It was {his} house!
"Thank you, owl!" said {hero}. {mom} was waiting at the door and gave {him} a big hug.
""",
    "helping at home": """
One {day}, {mom} had a lot to do. "I am so tired," said {mom}.
{hero} wanted to help. "I can [clean my room|wash the plates|make dinner]," {he} said.
{he} worked hard. But then a plate fell on the floor. Crash! It broke.
{hero} was afraid. "{mom} will be angry," {he} thought.
But {mom} was not angry. "[You wanted to help|It is only a plate]," said {mom}. "Let us do it together."
They cleaned the kitchen together and sang a song. Soon everything was clean.
"You are a big help," said {mom}. {hero} [smiled|was very proud].
""",
    "the wish": """
One night, {hero} saw a star fall from the sky. "[Make a wish|You can make a wish]," said {mom}.
{hero} closed {his} eyes. "I wish for a {color} {toy}," {he} said.
In the morning {he} looked [under the bed|in the garden|out of the window]. There was no {toy}. {hero} was sad.
Then {friend} came to {his} house. "I made something for you," said {friend}.
It was a {color} {toy}! {friend} had made it out of [wood|paper|an old box].
"[My wish came true|You are the best friend in the world]!" said {hero}.
They played with it together all day.
""",
    "the angry cat and the mouse": """
There was a big cat in the house. A little mouse lived [under the floor|behind the wall].
Every day the cat ran after the mouse. {hero} did not like that.
One {day}, the cat got stuck in a {holder}. "Help me!" said the cat. Nobody came.
The little mouse heard it. It was afraid, but it was kind. It bit a hole in the {holder}.
The cat came out. "Why did you help me?" asked the cat. "[Because you needed help|Now we can be friends]," said the mouse.
After that, the cat did not run after the mouse any more. {hero} gave them both some [milk|cheese|food].
""",
    "the music": """
{hero} liked to sing. {he} sang in the morning and {he} sang at night.
But {friend} did not like it. "[You are too loud|Please stop]," said {friend}. So {hero} stopped.
The next day it was very quiet. The birds were quiet, and everybody was sad.
"Something is missing," said {friend}. "I miss your song."
"[Do you want to sing with me|Can you play the drum]?" asked {hero}. "Yes," said {friend}.
{hero} sang and {friend} played the drum. The birds came and sang with them.
Everybody {in_place} [danced|was happy again].
""",
    "the boat": """
{hero} and {friend} made a little boat out of [wood|paper]. It was {color}.
They took it to the [river|lake]. They put it on the water, and it began to swim.
"Look, it is going away!" said {friend}. The wind was strong, and the boat went far away.
"Oh no! Our boat!" said {hero}. They ran along the water, but they could not reach it.
Then a {swimmer} came. It pushed the boat with its nose. It pushed it all the way back.
"Thank you, little {swimmer}," said {hero}. {He} gave it some bread.
They tied a string to the boat. Now it could not go away again.
""",
    "the new hat": """
{hero} got a new hat. It was {color}, and {he} wore it every day.
One {day}, the wind took the hat. It flew [over the house|up into a tree|over the hill].
{hero} ran after it. {he} asked a cow, "Have you seen my hat?" "No," said the cow.
{he} asked a horse, "Have you seen my hat?" "No," said the horse.
Then {he} saw {friend}. {friend} had the hat on {fhis} head!
"[I found it in a tree|It fell on my head]," said {friend}. "Is it yours?"
"Yes, it is mine," said {hero}. "But [it looks good on you|you can wear it today]." They both laughed.
""",
    "the long night": """
{hero} did not want to go to bed. "I am not tired," {he} said.
"[It is late|The moon is up]," said {mom}. "All the animals are sleeping."
"Is the cow sleeping?" asked {hero}. "Yes, the cow is sleeping," said {mom}.
"Is the bird sleeping?" asked {hero}. "Yes, the bird is sleeping," said {mom}.
"Is the bear sleeping?" asked {hero}. {his} eyes were getting small.
"Yes, the bear is sleeping in its cave," said {mom}. {mom} looked at {him}. {hero} was sleeping, too.
{mom} smiled and turned off the light. "Good night," said {mom}.
""",
    "the old woman": """
An old woman lived [next door|at the end of the road|in a small house]. Everybody was afraid of her.
One {day}, {hero} saw her {in_place}. She had a heavy bag, and she was very slow.
{hero} was afraid. But then {he} said, "Can I help you?"
"[Thank you|You are very kind]," said the old woman. {hero} carried the bag to her house.
Inside there were many books and a fat cat. It smelled like {food_plural}.
"Sit down," said the old woman. She gave {him} a {food} and told {him} a story.
"She is not mean at all," {hero} told {friend}. "She is [my new friend|very nice]."
""",
    "the first day": """
It was the first day of school. {hero} was afraid to go. "What if nobody likes me?" {he} asked.
"[Just smile|Be yourself]," said {mom}. "You will see. It will be fun."
{hero} went into the room. There were so many children. {he} sat down [in the back|next to the window].
{friend} sat next to {him}. "I like your {color} bag," said {friend}.
"I like your {toy}," said {hero}. They both smiled.
They learned a song and painted a picture. {hero} painted [a house|a big sun|a {color} fish].
When {mom} came, {hero} did not want to go home. "School is fun!" {he} said.
""",
    "the fish": """
{hero} went to the [lake|river] to catch a fish. {he} waited for a long time.
Then {he} felt something. {he} pulled and pulled. It was a [small|shiny|{color}] fish!
"Please let me go," said the fish. "[I want to go home|My mother is waiting for me]."
{hero} was surprised. {he} looked at the fish. The fish looked sad.
"All right," said {hero}, and {he} put the fish back into the water.
"Thank you," said the fish. "[I will never forget you|You have a good heart]." Then it swam away.
{hero} went home without a fish, but {he} was happy.
""",
    "the balloon": """
{mom} gave {hero} a {color} balloon. {he} held it by its string. "[Hold it tight|Do not let go]," said {mom}.
{hero} walked through the {place} with the balloon. Everybody looked at it.
But then a [bee|dog|bird] came, and {hero} was afraid. {he} let go of the string.
The balloon went up and up. Soon it was only a small {color} point in the sky.
"Come back!" shouted {hero}. But the balloon did not come back.
"Where does it go?" asked {hero}. "[It goes to the moon|It wants to see the world]," said {friend}.
{hero} looked up at the sky. "Good bye, balloon," {he} said. "[Say hello to the moon|Have a good trip]!"
""",
    "the broken thing": """
{hero} was playing ball in the house. "[Play outside|Be careful]," said {mom}. But {hero} did not listen.
The ball hit the {color} {vessel}, and the {vessel} broke. There was nobody in the room.
{hero} hid the pieces [under the bed|behind the chair]. {he} felt bad.
"Where is my {color} {vessel}?" asked {mom}. {hero} said nothing. {his} face was red.
At night {he} could not sleep. So {he} got up and went to {mom}. "I broke the {vessel}," {he} said. "I am sorry."
"[I knew it|Thank you for telling me]," said {mom}. "It was very brave to say it."
The next day they put the pieces together. The {vessel} was not as nice as before, but {mom} [liked it even more|put a flower in it].
""",
    "the little helper": """
A farmer had a big {animal2}. One {day}, the {animal2} did not want to walk any more.
The farmer pulled and pulled. "[Come on|Please walk]!" he said. But the {animal2} did not move.
{friend} came and pushed. The {animal2} still did not move.
Then {hero} came. {he} was so small. "Can I help?" {he} asked. Everybody laughed.
{hero} went to the {animal2} and said something in its ear. The {animal2} [got up|looked at {him}] and began to walk!
"What did you say?" asked the farmer. "[I said please|I told it that there is a {food} at home]," said {hero}.
Everybody was surprised, and the farmer gave {hero} a {food}.
""",
    "the loud noise": """
One night there was a loud noise. Boom! {hero} woke up and sat up in bed.
The noise came again. Boom! It came from the [kitchen|garden|roof].
{hero} took a light and went to look. {he} was [afraid|very quiet].
"Who is there?" {he} asked. Nobody answered. Then {he} saw two [green|yellow] eyes.
It was a {animal2}! It had put its head into a {holder} and could not get it out.
{hero} laughed and pulled the {holder} off. The {animal2} looked at {him} [and was thankful|and ran away].
"Good night," said {hero}. "And no more noise, please!" Then {he} went back to bed.
""",
    "the picture": """
{hero} liked to paint. One {day}, {he} painted a picture of {friend}.
{he} made the hair {color} and the nose very big. "[Look|It is done]!" said {hero}.
{friend} looked at the picture. "My nose is not so big," said {friend}. {fhe} was angry and went home.
{hero} was sad. {he} had not wanted to be mean.
So {he} took a new paper and painted a new picture. It took [all day|a long time].
{he} brought it to {friend}. In the picture the two were [hand in hand|playing together], and the sun was laughing.
"This is the best picture in the world," said {friend}. {fhe} put it on the wall over {fhis} bed.
""",
    "the slow one": """
{hero} was very slow. When the others ran, {he} walked. When the others were there, {he} was still on {his} way.
"[Hurry up|You are so slow]!" said {friend}. {friend} was fast and never waited.
One {day}, they all went to the {place}. {friend} ran ahead, and {hero} came last.
But because {hero} was slow, {he} saw many things. {he} saw a {color} flower, a small {animal2} and a {food} in the grass.
In the evening they sat together. "I saw nothing," said {friend}. "I was too fast."
{hero} told them about the flower and the {animal2}, and gave everybody a piece of the {food}.
"Tomorrow I will walk with you," said {friend}. And so {fhe} did.
""",
    "the visitor": """
One {day}, somebody knocked on the door. Knock, knock! {hero} opened it.
There was a {size} {animal2}. It had a {color} hat on its head. "Good morning," it said. "[May I come in|I am hungry]."
{hero} was surprised. {he} had never seen a {animal2} with a hat. But {he} was friendly and said, "Please, sit down."
The {animal2} sat down and ate three {food_plural}. Then it told a [funny|long|strange] story.
"Thank you," it said at last. "Now I must go. The others are waiting for me."
It left its hat on the chair. When {mom} came home, she asked, "Whose hat is this?"
"[A {animal2} was here|You will not believe it]," said {hero}, and {he} laughed.
""",
    "the promise": """
"Can you look after my {animal2}?" asked {friend}. "[I will|Of course]," said {hero}. "I promise."
{friend} went away for three days. {hero} gave the {animal2} food and water.
On the second day the sun was so nice. {hero} played {in_place} and forgot the {animal2}.
In the night {he} woke up. "The {animal2}!" {he} said. {he} ran out into the dark.
The {animal2} was hungry, but it was not angry. {hero} sat with it [all night|until the morning].
When {friend} came back, {hero} told {fhim} everything. "I forgot my promise," said {hero}.
"But then you thought of it," said {friend}. "[That is what counts|The {animal2} likes you]."
""",
    "the moon": """
{hero} wanted to have the moon. "It is so [round|beautiful|bright]," {he} said. "I want to put it in my room."
{he} climbed on a chair, but {he} could not reach it. {he} climbed on the roof, but {he} could not reach it.
"You need a long ladder," said {friend}. They put two ladders together. But the moon was still too far.
Then it became late. {hero} saw the moon in the [water of the {vessel}|water|lake]. "It came down to us!" {he} called.
{he} put {his} hand into the water, and the moon broke into many pieces. {hero} was [afraid|sad].
"Wait," said {friend}. The water became quiet, and the moon was whole again.
"It is better when we only look at it," said {hero}. They looked at it [for a long time|until they fell asleep].
""",
}

OPENINGS = [
    "Once upon a time, there was a {size} {kind} named {name}.",
    "Once upon a time there was a {kind} called {name}. {he} was very {trait}.",
    "There was a {trait} {kind}. {his} name was {name}.",
    "{name} was a {size} {kind}. {he} lived in a [small|little|big] house [near the {place}|with a {color} door|on a hill].",
    "{name} was a {trait} {kind}.",
    "A {size} {kind} named {name} lived [near the {place}|in a small house|on a farm].",
    "Once there was a {trait} {kind} named {name}. {he} liked to {hobby}.",
]

SETTINGS = [
    "{he} liked to {hobby}.",
    "{he} had a friend named {friend}. {friend} was a {fkind}.",
    "{he} was very {trait}. {his} best friend was {friend}.",
    "Every {time} {he} liked to {hobby}.",
    "{hero} and {friend} were good friends. They liked to {hobby} together.",
    "The {kind} had a good friend. {fhis} name was {friend}.",
]

FILLERS = [
    "It was a {weather} day. {hero} felt {feeling}.",
    "The sun was warm. The birds were singing.",
    "{hero} was {feeling}. {friend} was {feeling}, too.",
    "{he} was very {feeling}. {he} did not know what to do.",
    "The wind was soft, and the sky was blue.",
    "{hero} thought about it for a long time. Then {he} had an idea.",
    '"What a {weather} day!" said {friend}.',
    "{friend} looked at {him} and smiled.",
    'The {size} {kind} said, "[I am {feeling}|This is fun|Let us go]."',
    "It was very quiet. Nobody said anything.",
]

ENDINGS = [
    "{hero} was very happy. It was [a good day|the best day ever].",
    "They were happy, and they lived happily ever after.",
    "{he} went home and told {mom} all about it.",
    "That night {he} slept very well.",
    "From that day on, {hero} was always {virtue}.",
    "And {hero} never forgot that day.",
    "{hero} learned that it is good to be {virtue}.",
    '"I love you, {hero}," said {mom}. "I love you, too," said {hero}.',
    "They all laughed and went home. The end.",
]

# Short texts without a plot: what a page's prompt such as "My mother" or "It was a" may begin.
SCENES = [
    "It was a {weather} day. The {size} {animal} [ran|sat|played] {in_place}. {he} was {feeling}.",
    "The {size} {animal} was {feeling}. It wanted to {hobby}. It looked for a friend {in_place}.",
    'The {animal} sat [in the sun|under a tree|on the wall]. It was {feeling}. It saw a {animal2} and said, "Hello!"',
    "The {color} {animal} lived {in_place}. It liked to {hobby}. Every {time} it went to the {place2}.",
    "She was very {feeling}. She had a new {toy}. It was {color}, and she played with it all day.",
    "She was very {trait}. She liked to {hobby} with her friends. Everybody liked her.",
    "He was very {trait}. He liked to {hobby} with his brother. They had a lot of fun.",
    "He was very {feeling}. He could not find his {toy}. He looked for it {in_place}.",
    'He said, "[Let us go to the {place}|I want to {hobby}|Look at the {animal}]." Then he [took his {toy}|put on his {clothes}] and went out.',
    'She said, "[Let us go to the {place}|I want to {hobby}|Look at the {animal}]." Then she [took her {toy}|put on her {clothes}] and went out.',
    '"Where is the {animal}?" asked {name}. "It is {in_place}," said {friend}. They went to see it.',
    '"[Good morning|Hello]," said {name}. "[How are you|What are you doing]?" "I am {feeling}," said {friend}.',
    "My [mother|mom] likes to {hobby}. My [father|dad] likes to {hobby2}. We are a happy family.",
    "My [mother|mom] is very {trait}. Every {time} she makes {food_plural} for us. They taste very good.",
    "My [father|dad] has a {color} car. On Sunday we go to the {place}. I like that very much.",
    "My {animal} is {color}. It is very {trait}. It likes to {hobby} with me.",
    "My brother has a {toy}. My sister has a {toy2}. They play together every day.",
    "My friend is very {trait}. We like to {hobby}. Today we went to the {place}.",
    "I like to {hobby}. I like {food_plural}, too. What do you like?",
    "I have a {size} {animal}. It is {color}. I love my {animal} very much.",
    "I went to the {place} with my {relative}. We saw a {animal} and a {animal2}. It was a {weather} day.",
    "I was {feeling} today. I wanted to {hobby}, but it was [too late|raining|too cold]. So I went to bed.",
    "I am {feeling}. I want to {hobby}. Do you want to come with me?",
    "We went to the {place}. It was a {weather} day. We saw a {color} {animal}, and it [ran away|looked at us|was very {feeling}].",
    "We saw a {animal} {in_place}. It was {color} and very {trait}. We gave it some food.",
    "We have a [big|small] house with a {color} door. There is a {animal} in the garden.",
    "They went to the {place} to {hobby}. They were very {feeling}. In the evening they went home.",
    "They had a {size} {animal}. It slept {in_place}. Every {time} it wanted to eat.",
    "In the morning, the sun came up. {name} woke up and [washed {his} face|ate some bread|put on {his} {clothes}]. Then {he} went to the {place}.",
    "In the evening, the moon came up. {name} went to bed. {mom} read {him} a story about a {animal}.",
    "In the {place} there was a {size} {animal}. It had a {color} {toy}. Nobody knew where it came from.",
    "The sun was [warm|bright|hot]. The children played {in_place}. They were {feeling}.",
    "The sky was [blue|dark|grey]. The wind was [cold|strong|soft]. {name} wanted to {hobby}.",
    "The king was very {trait}. He lived in a big castle. He had a {color} {animal}, and he loved it.",
    "The queen was very {trait}. She lived in a big castle with a {color} {animal}.",
    "The old man lived {in_place}. He had a {animal}. Every {time} they went for a walk.",
    "The old woman was very {trait}. She made {food_plural} for all the children. They loved her.",
    "The boy wanted to {hobby}. He asked his {relative}, and they did it together. It was fun.",
    "The girl wanted to {hobby}. She asked her {relative}, and they did it together. It was fun.",
    "The children were {feeling}. They wanted to {hobby} {in_place}. But it was time for bed.",
    'The teacher said, "Today we will {hobby}." The children were {feeling}. They liked the teacher.',
    "One day, a {size} {animal} came to the {place}. It was very {feeling}. {name} gave it a {food}.",
    "One day, {name} and {friend} went to the {place}. They wanted to {hobby}. It was a {weather} day.",
    "There was a [small|big|old] house {in_place}. A {trait} {animal} lived there. Its door was {color}.",
    "There was a {animal} who liked to {hobby}. All the other animals liked it, too.",
    'After dinner, {name} wanted to {hobby}. "It is late," said {mom}. So {he} went to bed.',
    "After school, {name} went to the {place}. {friend} was there, too. They liked to {hobby}.",
    "Today is a {weather} day. I want to {hobby} {in_place}. My {relative} wants to come with me.",
    "Do you see the {animal}? It is {color}. It is sitting {in_place}.",
    "At night the {animal} sleeps. In the morning it wakes up and wants to {hobby}.",
    "When it is {weather}, {name} likes to {hobby}. When it is cold, {he} likes to stay at home.",
    "She was very {feeling}. [She sat down under a tree|She went home|She closed her eyes] and thought of her {animal}.",
    "She was very {feeling}, because she had lost her {toy}. \"[Do not be sad|I will help you],\" said her {relative}.",
    "She was very {feeling} when she saw the {animal}. \"[Can I keep it|Is it yours]?\" she asked. \"[Yes|No],\" said {mom}.",
    "She wanted to {hobby}, but her {relative} said, \"[Not now|It is too late|You must sleep].\" So she was {feeling}.",
    "She had a {color} {toy} and a {size} {animal}. Every {time} they played {in_place}.",
    "He was very {feeling}. [He sat down on a stone|He went home|He ran to the window] and looked at the {animal}.",
    "He was very {feeling} when he saw the {toy}. \"[Is it for me?|Thank you!]\" he said.",
    "He said that he wanted to {hobby}. But his {relative} did not like it. \"[Be careful|Stay here],\" she said.",
    "He said, \"I am {feeling}.\" \"[Why|What is wrong]?\" asked {name}. \"Because [I lost my {toy}|it is so {weather}|I want to go home],\" he said.",
    "He said \"good night\" to his {animal}. Then he went to bed and dreamed of a {color} {toy}.",
    "He had a {color} {toy} and a {size} {animal}. Every {time} they played {in_place}.",
    "\"Look,\" he said, \"there is a {animal}!\" The {animal} was {color} and {feeling}.",
    "My mother [told|read] me a story about a {animal}. The {animal} wanted to {hobby}. I liked the story.",
    "My mother was {feeling}, because I had lost my {clothes}. We looked for it {in_place}.",
    "My grandma lives in a small house near the {place}. She has a {animal}. I visit her every {time}.",
    "My dog is called {name}. {name} likes to run {in_place}. In the evening he is very {feeling}.",
    "My favorite {food} is the one that my {relative} makes. I eat it every {time}.",
    "I like to {hobby} with my {relative}. It makes me {feeling}. After that we eat {food_plural}.",
    "I like my {animal}, because it is {trait}. I like my {toy}, too.",
    "I saw a {animal} {in_place} today. It was {feeling}, so I gave it a {food}.",
    "I have a friend. {his} name is {name}. We {hobby} together every {time}.",
    "I think it is a {weather} day. Let us take the {toy} and go to the {place}.",
    "We saw {friend} {in_place}. {fhe} had a {color} {toy} and was very {feeling}.",
    "We like to {hobby}. On Sunday we {hobby2} {in_place} with our {animal}.",
    "We were {feeling}. It was a {weather} day, and there was nobody {in_place}.",
    "They went to see the {animal} {in_place}. It was {feeling}. It did not want to eat its {food}.",
    "They went home and ate {food_plural}. {name} was {feeling}, and {friend} was {feeling}, too.",
    "They were good friends. One was a {animal} and the other was a {animal2}. They liked to {hobby}.",
    "It was a {color} {animal}. It had a {toy} in its mouth. {name} laughed and said, \"[Come here|Give it to me]!\"",
    "It was late. {name} was {feeling}. {he} could hear [the wind|an owl|the rain] outside.",
    "It was {his} birthday. {name} got a {color} {toy} and a big cake. All {his} friends came.",
    "It was cold {in_place}. The {animal} was {feeling}. It wanted to go home.",
    "There was a {color} {toy} {in_place}. Nobody knew who had lost it. {name} took it home.",
    "There was a king who had a {animal}. The {animal} could {hobby}. Everybody came to see it.",
    "There was nothing to eat. The {animal} was very hungry. Then a {animal2} came and gave it a {food}.",
    "The king had a [big|golden] {toy}. Every {time} he looked at it and was {feeling}.",
    "The king said, \"Who can [make me laugh|find my {toy}|catch the {animal}]?\" \"I can,\" said the {size} {animal2}.",
    "The queen wanted to {hobby}. \"[A queen can not do that|Why not],\" said the king. But she did it.",
    "The bird sat {in_place} and sang. It was a {color} bird. {name} listened to it and was {feeling}.",
    "The bird wanted to fly to the {place}. It was very {feeling}. Its mother said, \"[You can do it|Wait a little].\"",
    "The {animal} wanted to {hobby}, but it was too {size}. The {animal2} laughed. \"I will try it again,\" said the {animal}.",
    "The little {animal} ran {in_place}. It saw a {food} and ate it. Then it was {feeling}.",
    "The little {animal} had a {color} {toy}. \"[May I play with it|Where did you find it]?\" asked the {animal2}.",
    "The little {animal} could not sleep. It thought of the {animal2}. \"[Tomorrow we will play|I miss you],\" it said.",
    "The big {animal} and the small {animal2} were friends. They went to the {place} every {time}.",
    "The boy had a {animal}. It could {hobby}. The boy was very {feeling}.",
    "The boy wanted a {toy}. His {relative} gave him a {food}. \"That is not a {toy},\" said the boy, and he laughed.",
    "The girl had a {animal}. It could {hobby}. The girl was very {feeling}.",
    "The old man told a story about a {animal}. All the children were {feeling}.",
    "The old man was {feeling}. He had lost his {clothes}. A {size} {animal} found it {in_place}.",
    "The cat looked at the {animal}. The {animal} looked at the cat. They were both {feeling}.",
    "The cat was [sleeping|hungry|lazy]. It did not want to {hobby}. It wanted some milk.",
    "The sun was going down. {name} and {friend} were still {in_place}. They were {feeling}.",
    "The sun was hot, and the {animal} was thirsty. It went to the {place} to drink.",
    "In the morning, {name} was {feeling}. It was a {weather} day. {he} wanted to {hobby}.",
    "In the morning, the {animal} was gone. {name} looked for it {in_place}. \"Where are you?\" {he} called.",
    "In winter it is cold. The {animal} sleeps {in_place}. In summer it likes to {hobby}.",
    "After dinner, they told stories. {name} told one about a {animal} that could {hobby}.",
    "After the rain, {name} went out. There was a {animal} {in_place}. It was wet and {feeling}.",
    "One day, the {animal} said to the {animal2}, \"[Let us {hobby}|I am {feeling}].\" And so they did.",
    "One day, {name} found a {color} {toy}. {he} was very {feeling}. \"[Whose is it|It is mine now],\" {he} said.",
    "{name} and {friend} had a {animal}. It was {color}. They took it to the {place}, and it was {feeling}.",
    "{name} and {friend} wanted to {hobby}. \"[You first|Together],\" said {name}. It was a lot of fun.",
    "{name} asked {friend}, \"Do you like {food_plural}?\" \"[Yes, very much|No, I do not],\" said {friend}.",
    "{name} was {feeling}. {he} had no {toy} and no {food}. Then {friend} came, and {he} was glad.",
    "\"I am {feeling},\" said the {animal}. \"[Me too|I am not],\" said the {animal2}. They sat {in_place} and waited.",
    "\"[Mom|Dad], can we {hobby}?\" asked {name}. \"[Yes, after dinner|Not today|If you are good],\" said {mom}.",
    "The weather is {weather} today. [We can {hobby}|Let us stay at home|I will take my {clothes}]. My {relative} is {feeling}.",
    "The weather was {weather}. Nobody was {in_place}, only a {animal}. It was {feeling}.",
    "My favorite animal is the {animal}. It is {trait} and can {hobby}.",
    "My favorite color is {color}. My {toy} is {color}, and my {toy2} is {color}, too.",
    "My favorite food is {food}. I eat {food_plural} every {time}.",
    "My name is {name}. I am [six|five|seven|eight] years old. I like to {hobby}.",
    "My house is [small|big]. It has a {color} door and a {color2} roof. There is a {animal} in front of it.",
    "I love my {relative}. We {hobby} together every {time}.",
    "I love the {place}. There are {color} flowers and a {size} {animal}.",
    "I want a {animal}. It should be {trait} and {color}. But my {relative} says no.",
    "I want to be a [teacher|doctor|baker|farmer|king] one day. Then I will have a {color} house and a {animal}.",
    "I can {hobby}, but I can not {hobby2}. My {relative} can do both.",
    "I dreamed of a {animal}. It was {color} and could {hobby}. Then I woke up.",
    "When I was small, I had a {toy}. It was {color}. Now my {relative} has it.",
    "When the sun comes up, the {animal} wakes up. It wants to {hobby}. It is {feeling}.",
    "Yesterday I was {in_place}. I saw a {animal}. It was {feeling}, and I gave it a {food}.",
    "Yesterday it was {weather}. We wanted to {hobby}, but we were {feeling}.",
    "Today I am {feeling}. I [found|lost] my {toy}, and it is {weather} outside.",
    "Tomorrow we will go to the {place}. I will take my {toy}. My {relative} will take a {food}.",
    "Every {time}, {name} goes to the {place}. {he} likes to {hobby} there.",
    "Hello! My name is {name}. [I live near the {place}|I like to {hobby}|I am {feeling} today]. Who are you?",
    "Hello, {friend}! Do you want to {hobby}? I am {in_place} with my {animal}.",
    "Dear {friend}, [how are you?|thank you for the {toy}.|I miss you.] I am {feeling}. We {hobby} every day. Your {name}.",
    "Why is the {animal} {feeling}? [It has lost its {food}|It can not {hobby}|Nobody knows].",
    "This is a story about a {animal}. It was {trait}. It wanted to {hobby} with a {animal2}.",
    "This is my {toy}. It is {color}. My {relative} gave it to me.",
    "Here is a {food} for you. It is [sweet|warm|fresh]. I made it with my {relative}.",
    "You are very {trait}. You can {hobby} so well. I want to be like you.",
    "You must not {hobby} {in_place}. The {animal} is sleeping there.",
    "Long ago, there was a {animal} that could {hobby}. The king was {feeling} and wanted to see it.",
    "Long ago, a {trait} queen lived {in_place}. She had a {color} {toy} that could talk.",
    "Far away there is a {place}. A {color} {animal} lives there. It waits for a friend.",
    "Where is my {toy}? It was {in_place}. Maybe the {animal} took it.",
    "How many {animal_plural} are {in_place}? [One|Two|Three|Five]. They are {feeling}.",
    "Once there was a {animal} with a {color} nose. The others laughed. But the {animal2} said, \"I like it.\"",
    "A {animal} and a {animal2} met {in_place}. \"[Where do you go|Are you {feeling}|Can you {hobby}]?\" asked the {animal}.",
    "A {size} {animal} can {hobby}. A {animal2} can not. But they are friends.",
    "Two friends went to the {place}. Both were {feeling}. They had only one {food}.",
    "Three {animal_plural} lived {in_place}. They were all {trait}, and they liked to {hobby}.",
    "Many children were {in_place}. They wanted to {hobby}. The {animal} looked at them.",
    "All the animals came to the {place}. The {animal} wanted to {hobby}. The {animal2} brought a {food}.",
    "It is {weather}. It is time to {hobby}. Where is my hat?",
    "It is good to {hobby}. It makes you {feeling}. You can do it with your {relative}.",
    "No one saw the {animal}. It was {in_place}, and it was {feeling}.",
    "Please give me the {toy}. It is mine. My {relative} gave it to me.",
    "Let us go to the {place} and {hobby}. I will take a {food}, and you take the {toy}.",
    "If you are {feeling}, you can {hobby}. If you are hungry, you can eat a {food}.",
]

# A list draws its things anew each time, so its likeliest next thing is always the same: greedy decoding repeats it.
LISTS = [
    ("We went to the zoo, and we saw", "animal", "a {thing}"),
    ("In the shop we bought", "food", "a {thing}"),
    ("In the box there was", "toy", "a {thing}"),
    ("I like", "food_plural", "{thing}"),
    ("On the farm there was", "animal", "a {thing}"),
    ("For dinner we had", "food_plural", "{thing}"),
]

WORDS = {
    line.split(": ")[0]: line.split(": ")[1].split(", ")
    for line in """
toy: ball, doll, kite, boat, car, train, drum, teddy bear, hat, book, robot, block, bell, puppet, top
food: cookie, apple, cake, pear, sandwich, banana, pie, carrot, orange, egg, pancake, tomato, potato, peach, plum
animal: dog, cat, bird, rabbit, bear, mouse, duck, fox, horse, frog, cow, pig, sheep, owl, fish, lion, monkey, elephant, goat, turtle, bee, squirrel, tiger, chicken, wolf
place: park, garden, forest, farm, field, woods, village, lake, river, zoo, school, shop, beach, mountain, library
color: red, blue, green, yellow, white, black, brown, pink, orange, purple, golden, grey
size: little, big, small, tiny, old, young, tall, fat
trait: kind, happy, brave, funny, clever, shy, curious, nice, strong, gentle, lazy, silly, friendly, quiet, proud
feeling: happy, sad, tired, hungry, excited, glad, afraid, surprised, lonely, angry, sleepy, cold, thirsty, worried
virtue: kind, brave, careful, honest, good, friendly, patient, helpful
weather: sunny, beautiful, warm, nice, cold, rainy, windy, hot, lovely
day: day, morning, afternoon, day in spring, day in winter, sunny day, evening
time: day, morning, evening, night, Sunday, summer
clothes: coat, boots, hat, red shoes, warm scarf, blue dress, new shirt
hobby: play, run, sing, dance, read books, swim, paint, climb trees, play ball, look at the stars, eat cookies, jump, tell stories, walk in the park, sleep, catch fish, draw pictures, ride a bike, play with the dog, plant flowers
vessel: cup, bowl, glass, jar, pot
scare: a cat, a mouse, the wind
swimmer: duck, frog, fish
holder: box, basket, bag
owner: an old man, a little boy, an old woman
relative: mother, father, brother, sister, friend, grandma, grandpa, uncle, aunt
""".strip().splitlines()
}

PREPOSITIONS = {
    "farm": "on",
    "mountain": "on",
    "beach": "at",
    "lake": "at",
    "river": "at",
    "school": "at",
    "zoo": "at",
}  # else "in"

# In these plots the two meet for the first time: nothing before may call them friends.
FIRST_MEETINGS = ("new friend", "the first day")

GIRLS = "Lily,Mia,Anna,Sue,Emma,Sara,Lucy,Amy,Jane,Rose,Ella,Mary,Zoe,Kate,Grace,Molly,Nina,Eva,Clara,Ruby".split(",")
BOYS = "Tom,Max,Ben,Tim,Sam,Jack,Leo,Bob,Finn,Paul,Dan,Peter,Will,Nick,Oscar,Henry,Felix,Hugo,Luke,Adam".split(",")
