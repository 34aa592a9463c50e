/**
 * What the keepers of the journal write about, and in which words; all of it invented. `{slot}` is one of `slots`,
 * which may hold slots themselves.
 */
export const slots: Readonly<Record<string, readonly string[]>> = {
  wind: ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'],
  force: ['a light air', 'a fresh breeze', 'a stiff breeze', 'half a gale', 'a whole gale', 'a hard gale'],
  part: ['at daybreak', 'before noon', 'at noon', 'towards evening', 'at dusk', 'in the middle watch', 'all night'],
  place: ['the sound', 'Black Skerry', 'the outer bank', 'Gannet Head', 'the narrows', 'the west reef', 'Hollow Bay'],
  shore: ['the landing', 'the slip', 'the boat cove', 'the shingle beach', 'the north stair', 'the mole'],
  port: ['Arnavik', 'Storhavn', 'Ketel Bay', 'Lindersund', 'Port Ellis', 'Myrafjord', 'Old Haven', 'Tornby'],
  sail: ['schooner', 'brig', 'barque', 'ketch', 'lugger', 'sloop', 'cutter'],
  steam: ['steamer', 'paddle steamer', 'steam tug', 'mail steamer', 'screw collier'],
  name: ['Amity', 'Blue Heron', 'Constance', 'Dagny', 'Elvira', 'Fortitude', 'Good Intent', 'Hilda', 'Juno', 'Kestrel'],
  cargo: ['timber', 'salt', 'coal', 'herring', 'slate', 'barley', 'iron ore', 'hemp', 'bricks', 'stockfish'],
  bird: ['gannet', 'tern', 'eider', 'guillemot', 'cormorant', 'fieldfare', 'starling', 'woodcock', 'goose', 'puffin'],
  fish: ['herring', 'cod', 'mackerel', 'haddock', 'ling', 'plaice', 'lobster'],
  lamp: ['the burner', 'the wick', 'the prisms', 'the clockwork', 'the chimney glass', 'the revolving carriage'],
  store: ['flour', 'peas', 'wicks', 'soap', 'lime', 'rope', 'coffee', 'potatoes', 'tar', 'blankets'],
  house: ['the gallery rail', 'the boat winch', 'the roof', 'the cistern', 'the stove', 'the signal mast', 'the stair'],
  crop: ['potatoes', 'kale', 'onions', 'barley', 'turnips', 'rhubarb'],
  beast: ['goat', 'cow', 'pony', 'ram'],
  ill: ['a fever', 'a bad cough', 'a crushed thumb', 'rheumatism', 'a burned hand', 'the toothache'],
  person: ['Ingrid Sand', 'Tobias Kern', 'young Marten', 'the second keeper', 'the boatman', 'the smith of Tornby'],
  guest: ['the inspector', 'the surveyor', 'the parson', 'a painter', 'the schoolmaster', 'two naturalists'],
  few: ['two', 'three', 'four', 'five', 'six', 'seven'],
  many: ['nine', 'eleven', 'a dozen', 'fourteen', 'twenty', 'thirty', 'some forty', 'sixty', 'a hundred'],
  mood: ['thank God', 'to our relief', 'as we had feared', 'as every year', 'for the first time', 'once more'],
  surge: ['the sea', 'green water', 'the spray', 'the swell', 'the third wave'],
  hit: [
    'broke over {shore}',
    'reached the lantern',
    'filled the cistern with salt',
    'carried away {house}',
    'broke a pane',
  ],
  hold: ['kept below', 'lashed {house}', 'wound the clockwork by turns', 'baled the cellar', 'slept in our boots'],
  lost: ['her masts gone', 'her rudder torn off', 'her boats stove in', 'her pumps choked', 'her anchors dragging'],
  fate: [
    'went to pieces',
    'lies on her side',
    'floated off with the tide',
    'burned to the water',
    'was towed to {port}',
  ],
  rescue: [
    'took off {many} men by the line',
    'saw the lifeboat come out',
    'lit a fire on {shore}',
    'buried {few} sailors',
  ],
  frozen: [
    'chopped the ice from {house}',
    'walked over the ice to {port}',
    'drew the {store} on a sledge',
    'thawed the pump',
  ],
  floe: ['the drift ice', 'the shore ice', 'a field of floes', 'slush'],
  blocked: [
    'closed {place}',
    'held the {sail} {name} fast',
    'kept the mail boat off',
    'went out with the ebb',
    'cut the moorings',
  ],
  flock: [
    'struck the lantern',
    'nested on {place}',
    'rested on the gallery',
    'flew over to the {wind}',
    'lay dead on {shore}',
  ],
  trim: ['trimmed', 'cleaned', 'oiled', 'took apart', 'packed', 'polished'],
  fault: ['smoked', 'stuck', 'ran slow', 'was fouled', 'cracked', 'burned low'],
};

export interface Subject {
  /** In how many of a hundred entries, in each quarter of the year (winter first). */
  readonly quarters: readonly [number, number, number, number];
  /** First and last year, where it has any. */
  readonly years?: readonly [number, number];
  /** The subject it brings along now and then. */
  readonly brings?: string;
  readonly says: readonly string[];
}

export const subjects: Readonly<Record<string, Subject>> = {
  wind: {
    quarters: [70, 60, 55, 70],
    says: [
      'Wind {wind}, {force} {part}.',
      'The wind went round to the {wind} {part} and blew {force}.',
      'Calm {part}, then {force} from the {wind}, and the glass falling.',
      'The glass stood high {part}; wind {wind}, with a clear horizon as far as {place}.',
    ],
  },
  storm: {
    quarters: [26, 8, 5, 24],
    brings: 'wreck',
    says: [
      'A storm from the {wind}: {surge} {hit} {part}, and {surge} {hit}.',
      'In the storm {surge} {hit}; we {hold} and {hold}.',
      'The storm {hit} {part}, {mood}, and {person} {hold}.',
      'The storm blew itself out {part}; {surge} had {hit}, and we mended {house}.',
      'Storm {part}. We {hold}; {surge} {hit}.',
    ],
  },
  wreck: {
    quarters: [14, 3, 2, 12],
    says: [
      'The {sail} {name} of {port}, with {cargo}, struck {place} {part}, {lost}; we {rescue}.',
      'A wreck on {place}: the {sail} {name}, {lost}. She {fate}, and {cargo} came ashore at {shore}.',
      'Wreckage and {cargo} drifted in at {shore}; the {sail} {name} {fate}, as {person} tells us.',
      'The wreck of the {name} {fate} {part}. We {rescue} and {rescue}.',
    ],
  },
  ice: {
    quarters: [38, 4, 0, 6],
    says: [
      'Ice {part}: {floe} {blocked}, and {floe} {blocked}.',
      'We {frozen} {part}, {mood}, and {frozen}.',
      '{floe} came down from the {wind} and {blocked}; {person} and I {frozen}.',
      'The ice in {place} {blocked} {part} with a noise like guns.',
    ],
  },
  fog: {
    quarters: [14, 24, 26, 16],
    says: [
      'Fog {part}; rang the bell {few} hours without a pause.',
      'Thick fog in {place}. Heard a {sail} sound her horn {part}, but never saw her.',
      'The bell {fault} {part}, in thick fog; {person} bound it with wire.',
      'The fog lifted {part} and showed {few} sail at anchor off {place}.',
    ],
  },
  siren: {
    quarters: [10, 16, 18, 12],
    years: [1883, 1890],
    says: [
      'Fog. Sounded the new siren {few} hours; it eats a hundredweight of coal in a night.',
      'The boiler of the siren {fault}. {person} {trim} the joint, and we raised steam {part}.',
      'A {steam} answered our siren {part} and stood clear of {place}.',
    ],
  },
  ships: {
    quarters: [26, 38, 40, 30],
    years: [1871, 1887],
    says: [
      'The {sail} {name} passed {part}, bound for {port} with {cargo}.',
      'Counted {many} sail {part}, most of them with {cargo} for {port}.',
      'A {sail} lay in the lee of {place} {part} and sent her boat for water.',
      'The {sail} {name} came in past {place} {part}, {lost}, and {fate}.',
    ],
  },
  steamers: {
    quarters: [14, 22, 24, 18],
    years: [1876, 1890],
    says: [
      'The {steam} {name} passed {part} with {cargo} for {port}.',
      'Counted {few} steamers and {many} sail {part}; every year there are more funnels.',
      'The {steam} {name} ran past {place} at ten knots against {force}.',
      'The {steam} {name} took a {sail} in tow off {place}, {lost}.',
    ],
  },
  lamp: {
    quarters: [34, 26, 22, 34],
    says: [
      'We {trim} {lamp} and {trim} {lamp} {part}.',
      'The lamp {fault} {part}; {person} {trim} {lamp}.',
      'Lit the lamp {part}. It was seen from {port}, as {person} tells us.',
      '{lamp} {fault}; the light stood still for {few} minutes, which is entered in the return.',
    ],
  },
  colza: {
    quarters: [18, 12, 8, 18],
    years: [1871, 1878],
    says: [
      'The colza oil is thick with cold, and the lamp {fault}; we keep a can of it beside the stove.',
      'Landed {many} casks of colza oil at {shore}, {few} of them leaking.',
      'Used {few} quarts of colza oil in the night.',
    ],
  },
  paraffin: {
    quarters: [18, 12, 8, 18],
    years: [1878, 1890],
    says: [
      'The paraffin oil burns whiter than colza ever did, and is kept in the iron shed by {shore}.',
      'Landed {many} drums of paraffin oil at {shore}; {person} will have no pipe near them.',
      'Used {few} quarts of paraffin oil in the night, and the chimney glass stayed clean.',
    ],
  },
  telegraph: {
    quarters: [14, 14, 14, 14],
    years: [1881, 1890],
    says: [
      'The telegraph tells of {force} at {port}; hoisted the cone.',
      'The telegraph cable is broken again, they say at {place}; the repair ship is asked for.',
      'Sent word by telegraph to {port} of the {sail} {name}, {lost}.',
      '{guest} sent a message over our telegraph and paid for {many} words.',
    ],
  },
  birds: {
    quarters: [6, 40, 14, 42],
    says: [
      '{many} birds {flock} {part}, most of them {bird} and {bird}.',
      'The first {bird} of the year was seen at {place}, {mood}; two {flock}.',
      'A flight of {bird} {flock} {part}, and some {bird} {flock}.',
      'Found a {bird} on the gallery {part}, and let it go at {shore}.',
    ],
  },
  fishing: {
    quarters: [8, 30, 44, 26],
    says: [
      'The boats of {port} lie off {place} for {fish}; {many} of them {part}.',
      '{person} caught {many} {fish} from {shore} {part}.',
      'No {fish} this week; the boats blame the current, {mood}.',
      'Salted down a barrel of {fish} for the winter, and smoked some {fish}.',
    ],
  },
  stores: {
    quarters: [14, 20, 20, 20],
    says: [
      'The relief boat brought {store}, {store} and the letters.',
      'The relief boat could not land at {shore}; we are short of {store} and {store}.',
      'Went through the stores: {few} sacks of {store}, and the {store} spoiled by damp.',
      'Bought {store} from the {sail} {name}, at a price.',
    ],
  },
  garden: {
    quarters: [1, 26, 34, 12],
    says: [
      'Dug the garden {part} and put in {crop} and {crop}.',
      'The salt wind has burned the {crop}, and the {beast} ate the {crop}, {mood}.',
      'Lifted the {crop}: {few} sacks, better than last year.',
    ],
  },
  repairs: {
    quarters: [12, 24, 28, 14],
    says: [
      'Mended {house} with {person} {part}.',
      'Tarred {house} and painted {house} with red lead, two coats.',
      '{person} came from {port} to see to {house}, and stayed {few} days for want of a boat.',
    ],
  },
  illness: {
    quarters: [16, 8, 4, 10],
    says: [
      '{person} lies with {ill}; the rest of us divide the watches.',
      'The doctor of {port} came over for {person}, who has {ill}.',
      '{person} is up again after {ill}, {mood}.',
    ],
  },
  guests: {
    quarters: [3, 14, 22, 8],
    says: [
      '{guest} came over from {port}, looked at {lamp}, and wrote in the book.',
      '{guest} stayed {few} days to look at the {bird} and the rocks of {place}.',
      'Showed the light to {guest} {part}.',
    ],
  },
};
