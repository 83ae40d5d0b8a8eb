// Made by derive/bert.py with tokenizers 0.23.3; do not edit.
// What BERT's normalizer and pre-tokenizer do to each character.
#pragma once

#include "spmcompat/splitting/blocks.hpp"
#include "spmcompat/splitting/mappings.hpp"

namespace spmcompat {

// The class of each character, in blocks of 64 characters. Equal blocks are stored once.
// w: white space, v: white space that is also a control character, r: control characters,
// p: punctuation, q: punctuation that is decomposed, c: Chinese characters, k: Chinese characters
// that are decomposed, d: other characters that are decomposed, u: capitals, b: capitals that are
// decomposed, m: removed accents, s: those that are starters, n: nonstarters that stay, -: all
// other characters.
constexpr char kBertBlocks[] =
    "rrrrrrrrrwwvvwrrrrrrrrrrrrrrrrrrwppppppppppppppp----------pppppp"
    "puuuuuuuuuuuuuuuuuuuuuuuuuupppppp--------------------------ppppr"
    "rrrrrvrrrrrrrrrrrrrrrrrrrrrrrrrrwp-----p---p-r--------pp---p---p"
    "bbbbbbubbbbbbbbbubbbbbb-ubbbbbu-dddddd-ddddddddd-dddddd--ddddd-d"
    "bdbdbdbdbdbdbdbdu-bdbdbdbdbdbdbdbdbdbdu-bdbdbdbdb-u-bdbd-bdbdbdu"
    "-u-bdbdbd-u-bdbdbdu-bdbdbdbdbdbdbdbdbdu-bdbdbdbdbdbdbdbdbbdbdbd-"
    "-uu-u-uu-uuu--uuuu-uu-uuu---uu-ubdu-u-uu-u--u-ubduuu-u-uu---u---"
    "----uu-uu-uu-bdbdbdbdbdbdbdbd-bdbdbdu-bdbdbdbdbdduu-bduubdbdbdbd"
    "bdbdbdbdbdbdbdbdbdbdbdbdbdbdu-bdu-u-u-bdbdbdbdbdbdbd------uu-uu-"
    "-u-uuuu-u-u-u-u-------------------------------------------------"
    "----------------------------------------------------------------"
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmsmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmu-u-d-u-------qu"
    "-----dbqbbb-b-bbduuuuuuuuuuuuuuuuu-uuuuuuubbddddd---------------"
    "----------dddddu---dd---u-u-u-u-u-u-u-u-u-u-u-u-----u--u-uu--uuu"
    "bbubuuubuuuubbbuuuuuuuuuubuuuuuuuuuuuuuuuuuuuuuu---------d------"
    "----------------dd-d---d----ddd-u-u-u-u-u-u-u-u-u-u-u-bdu-u-u-u-"
    "u--mmmmm--u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-"
    "ubdu-u-u-u-u-u--bdbdu-bdu-bdbdbdu-bdbdbdu-bdbdbdbdbdbdu-bdu-u-u-"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u--uuuuuuuuuuuuuuu"
    "uuuuuuuuuuuuuuuuuuuuuuu---pppppp--------------------------------"
    "---------pp------mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmpm"
    "pmmpmmpm-------------------------------------------pp-----------"
    "rrrrrr---pp-pp--mmmmmmmmmmmpr-pp--ddddd-------------------------"
    "-----------mmmmmmmmmmmmmmmmmmmmm----------pppp--m---------------"
    "d-d----------------dp-mmmmmmmr-mmmmmm--mm-mmmm------------------"
    "pppppppppppppp-r-m------------------------------mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmm-----------------------------------------------------"
    "--------------------------------------sssssssssss---------------"
    "-------------------------------------------mmmmmmmmm---ppp------"
    "----------------------mmmm-mmmmmmmmm-mmm-mmmmm--ppppppppppppppp-"
    "-------------------------mmm--p---------------------------------"
    "--------------------nnnnnnnnnnnnnn-mmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
    "sss--------------------------------------d-------d--d-----s-m---"
    "-ssssssss----m---mmmmsssdddddddd--sspp----------p---------------"
    "-s----------------------------------------------------------m---"
    "-ssss------ddm--------------dd-d--ss----------------------------"
    "-ss------------------------------------------------d--d-----m---"
    "-ss----ss--ssm---s-------ddd--d-----------------ss---s----------"
    "-ss---------------------------------------------------------m---"
    "-sssss-ss----m--------------------ss------------p---------------"
    "-s----------------------------------------------------------m--s"
    "-ssss---d--ddm--------s-----dd----ss----------------------------"
    "--s-----------------d-------------------------------------------"
    "s---------dddm--------------------------------------------------"
    "s-------------------------------------------------------------ss"
    "s-----sss-sssm-------mm-----------ss----------------------------"
    "d-----sdd-ddsm--------------------ss----------------------------"
    "-s--------------------------------------------------------------"
    "-ssss-----dddm--------------------ss----------------------------"
    "----------m-------sss-s---d-ddd---------------------p-----------"
    "-------------------------------------------------s--ssssmmm-----"
    "-------smmmmsssp----------pp------------------------------------"
    "-------------------------------------------------s--ssssmm-ss---"
    "--------mmmmss--------------------------------------------------"
    "----ppppppppppppppp-p---mm---------------------------m-m-mpppp--"
    "---d---------d----d----d----d------------d-------mmmmmssssmmmms-"
    "mmmmmpmm-----sssssssssss-ssssssssssssssssssssssssssssssssssss---"
    "------m---------ppppp----pp-------------------------------------"
    "--------------------------------------d------ssss-sssssm-mm--ss-"
    "----------pppppp--------ss----sss----------------ssss-----------"
    "--s--ss------m---------------s--uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
    "uuuuuu-u-----u---------------------------------------------p----"
    "-----------------------------mmmppppppppp-----------------------"
    "--------------------------------uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu----------"
    "p---------------------------------------------------------------"
    "---------------------------------------------pp-----------------"
    "w--------------------------pp-----------------------------------"
    "-------------------------------------------ppp------------------"
    "------------------ssm-----------------------------ssmpp---------"
    "------------------ss------------------------------ss------------"
    "----------------------------------------------------ss-sssssss--"
    "------s--sssssssssmsppp-ppp--m----------------------------------"
    "pppppppppppsssr-------------------------------------------------"
    "-----------------------------------------m----------------------"
    "--------------------------------sss----ss---------s------mmm----"
    "----pp----------------------------------------------------------"
    "-----------------------mm--s--pp--------------------------------"
    "----------------------s-sssssss-m-s--ssssssss------ssmmmmmmmm--m"
    "--------------------------------ppppppp-pppppp--mmmmmmmmmmmmmm--"
    "ssss--d-d-d-d-d---d---------------------------------m-sssssdsd--"
    "ddsdn---------------------ppppppp----------mmmmmmmmm------------"
    "ss--------------------------------ssss--ssnmss------------------"
    "--------------------------------------m-ss---s-sssnn--------pppp"
    "--------------------------------------------ssssssss--sm---ppppp"
    "--------------------------------------------------------------pp"
    "---------u------uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu--uuu"
    "pppppppp--------mmmpmmmmmmmmmmmmm-mmmmmmm----m------m---mm------"
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm-----nmmmm"
    "bdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbd"
    "bdbdbdbdbdbdbdbdbdbdbddddd-d--u-bdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbd"
    "bdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdbdu-u-u-"
    "ddddddddbbbbbbbbdddddd--bbbbbb--ddddddddbbbbbbbbddddddddbbbbbbbb"
    "dddddd--bbbbbb--dddddddd-b-b-b-bddddddddbbbbbbbbdddddddddddddd--"
    "ddddddddbbbbbbbbddddddddbbbbbbbbddddddddbbbbbbbbddddd-ddbbbbb-d-"
    "-dddd-ddbbbbbddddddd--ddbbbb-dddddddddddbbbbbddd--ddd-ddbbbbbd--"
    "wwwwwwwwwwwrrrrrppppppppppppppppppppppppwwrrrrrwpppppppppppppppp"
    "pppp-ppppppppppppp-ppppppppppppwrrrrr-rrrrrrrrrr-------------pp-"
    "-------------pp-------------------------------------------------"
    "----------------mmmmmmmmmmmmm----m---mmmmmmmmmmmm---------------"
    "--------------------------------------b---bb------u-------------"
    "--------------------------------uuuuuuuuuuuuuuuu----------------"
    "---u----------------------dd------------------d-----------------"
    "-------------ddd------------------------------------------------"
    "----d----d--d-----------------------d-d-------------------------"
    "-d--d--d-d----------------------d-d----------ddddd--dd--dd------"
    "dd--dd--dd----------------------------------dddd----------------"
    "--------------------------------dddd------dddd------------------"
    "--------pppp-----------------------------qq---------------------"
    "------------------------------------------------------uuuuuuuuuu"
    "uuuuuuuuuuuuuuuu------------------------------------------------"
    "----------------------------------------pppppppppppppp----------"
    "-----pp-------------------------------pppppppppp----------------"
    "---pppppppppppppppppppppp---------------------------------------"
    "------------------------pppp--------------------------------pp--"
    "----------------------------d-----------------------------------"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu----------------"
    "--------------------------------u-uuu--u-u-u-uuuu-u--u--------uu"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u--------u-u-mmmu------pppp-pp"
    "------------------------------------------------p--------------m"
    "--------------------------------mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
    "ppppppppppppppppppppppppppppppppppppppppppppppp-pppppppppppppppp"
    "ppp-------------------------------------------------------------"
    "wppp----pppppppppp--pppppppppppp----------mmmmnnp------------p--"
    "------------d-d-d-d-d-d-d-d-d-d-d-d--d-d-d------dd-dd-dd-dd-dd--"
    "--------------------d----mm---d-p-----------d-d-d-d-d-d-d-d-d-d-"
    "d-d--d-d-d------dd-dd-dd-dd-dd----------------------d--ddddp--d-"
    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
    "-------------ppp------------------------------------------------"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u--m---pmmmmmmmmmmp-"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u---mm--------------------------------"
    "------------------------------------------------mmpppppp--------"
    "----------------------------------u-u-u-u-u-u-u---u-u-u-u-u-u-u-"
    "u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u-u----------u-u-uu-"
    "u-u-u-u----u-u--u-u---u-u-u-u-u-u-u-u-u-u-uuuuu-uuuuu-u-u-u-u-u-"
    "u-u-uuuu-u-uu-u-u-u-u-u-u-u-u------------------------u----------"
    "--s---m----s-------------------------ss-------------------------"
    "----------------------------------------------------pppp--------"
    "----m---------pp----------------mmmmmmmmmmmmmmmmmm------ppp-p---"
    "--------------------------------------sssssmmmpp----------------"
    "-------sssssssssss-n-----------p--------------------------------"
    "sss------------------------------------------------m--ssss--s---"
    "nppppppppppppp----------------pp-----s--------------------------"
    "-----------------------------------------ssssss--ss--ss---------"
    "---s--------s---------------pppp----------------------------s---"
    "------------------------------------------------m-mmm--mm-----mm"
    "-m----------------------------pp------------ss--pp----m---------"
    "-------------------------------------s--s--p-m------------------"
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    "dddddddddddddddddddddddddddddddddddd----------------------------"
    "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
    "kkkkkkkkkkkkkkcckckcckkkkkkkkkkckckcckkccckkkkkkkkkkkkkkkkkkkkkk"
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkcckkkkkkkkkkkkkkkk"
    "kkkkkkkkkkkkkkkkkkkkkkkkkkcccccccccccccccccccccccccccccccccccccc"
    "-----------------------------dmd----------ddddddddddddd-ddddd-d-"
    "dd-dd-ddddddddd-------------------------------------------------"
    "sssssssssssssssspppppppppp------mmmmmmmmmmmmmmmmpppppppppppppppp"
    "ppppppppppppppppppp-pppppppppppppp-p----p-pp--------------------"
    "---------------------------------------------------------------r"
    "-ppp-pppppp-pppp----------pp---ppuuuuuuuuuuuuuuuuuuuuuuuuuuppp-p"
    "---------------------------p-p-ppppppp--------------------------"
    "---------------------------------------------------------rrr-r--"
    "-------------------------------------------------------------m--"
    "--------------------------------m-------------------------------"
    "------------------------------------------------------mmmmm-----"
    "-------------------------------p--------------------------------"
    "----------------p-----------------------------------------------"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu------------------------"
    "------------------------------------------------uuuuuuuuuuuuuuuu"
    "uuuuuuuuuuuuuuuuuuuu--------------------------------------------"
    "-----------------------------------------------puuuuuuuuuuu-uuuu"
    "uuuuuuuuuuu-uuuuuuu-uu------------------------------------------"
    "-----------------------p----------------------------------------"
    "-------------------------------p-------------------------------p"
    "-sss-ss-----smsm----------------------------------------mmm----m"
    "----------------ppppppppp--------------------------------------p"
    "-------------------------------------mm---------ppppppp---------"
    "---------------------------------------------------------ppppppp"
    "-------------------------pppp-----------------------------------"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu-------------"
    "----------------uuuuuuuuuuuuuuuuuuuuuu--------------------------"
    "-s------------------------------------------------------ssssssss"
    "ssssssmppppppp-------------------------------------------------m"
    "ss------------------------d-d--------------d-------ssss--mmpprpp"
    "pp--------------------------------------------------------------"
    "mmm------------------------------------sssss-ssssssmm-----------"
    "pppp-----------------------------------------------mpp----------"
    "ss----------------------------------------------------sssssssss-"
    "n----pppppmssp-------------p-ppp--------------------------------"
    "-----------------------------------------------sss--snmspppppp--"
    "-----------------------------------------p----------------------"
    "-------------------------------s---ssssssmm---------------------"
    "ss----------------------------------------------------------m---"
    "s----------ddn------------------------mmmmmmm---mmmmm-----------"
    "--n---n---------------------------------------------------------"
    "---------------------------------------------------ssssss-sdd-ds"
    "s-mm--p---------------------------------------------------------"
    "--------------------------------------------------ssss----ddss-m"
    "mppppppppppppppppppppppp----ss----------------------------------"
    "---------------------------------------------------ssssssss--s-m"
    "sppp------------------------------------------------------------"
    "-------------------------------------------s-s--ssssssnm--------"
    "-----------------------------sss--ssss-ssssm----------------ppp-"
    "---------------------------------------------------------------n"
    "------------------------------------------------ppppp-----------"
    "----------------------------------------------pp----------------"
    "------------------------------------------------mmmmmp----------"
    "------------------------------------------------mmmmmmmppppp----"
    "----p-----------------------------------------------------------"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu--------------------------------"
    "--------------------------------uuuuuuuuuuuuuuuuuuuuuuuuu-------"
    "---------------ssss---------------------------------------------"
    "-----------------------------smprrrr----------------------------"
    "------------------------------dddddddnnmmm---nnnnnnrrrrrrrrmmmmm"
    "mmm--mmmmmmm------------------------------mmmm-------------ddddd"
    "d---------------------------------------------------------------"
    "--mmm-----------------------------------------------------------"
    "sssssssssssssssssssssssssssssssssssssssssssssssssssssss----sssss"
    "sssssssssssssssssssssssssssssssssssssssssssss--------s----------"
    "----s--ppppp---------------sssss-sssssssssssssss----------------"
    "nnnnnnn-nnnnnnnnnnnnnnnnn--nnnnnnn-nn-nnnnn---------------------"
    "----------------mmmmmmm-----------------------------------------"
    "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu------------------------------"
    "----nnnnnnn-----------------------------------------------------"
    "cccccccccccccccccccccccccccccccc--------------------------------"
    "--------------------------------cccccccccccccccccccccccccccccccc"
    "cccccccccccccccccccccccccccccccccccccccccccccccc----------------"
    "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkcc--------------------------------"
    "-r------------------------------rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"
    "ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss"
    "ssssssssssssssssssssssssssssssssssssssssssssssss----------------"
    "rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr--";

constexpr BlockRun kBertBlockRuns[] = {
    {0, 1}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 1}, {6, 1}, {7, 1}, {8, 1}, {9, 1}, {10, 2},
    {11, 1}, {12, 1}, {13, 1}, {14, 1}, {15, 1}, {16, 1}, {17, 1}, {18, 1}, {19, 1}, {20, 1},
    {21, 1}, {22, 1}, {23, 1}, {24, 1}, {10, 1}, {25, 1}, {26, 1}, {27, 1}, {28, 1}, {29, 1},
    {30, 1}, {31, 1}, {10, 1}, {32, 1}, {33, 1}, {34, 1}, {35, 1}, {36, 1}, {37, 1}, {38, 1},
    {39, 1}, {40, 1}, {41, 1}, {42, 1}, {43, 1}, {44, 1}, {45, 1}, {46, 1}, {41, 1}, {47, 1},
    {48, 1}, {49, 1}, {10, 1}, {50, 1}, {51, 1}, {52, 1}, {53, 1}, {54, 1}, {55, 1}, {56, 1},
    {57, 1}, {58, 1}, {59, 1}, {60, 1}, {61, 1}, {62, 1}, {10, 9}, {63, 1}, {64, 1}, {65, 1},
    {66, 1}, {10, 8}, {67, 1}, {68, 1}, {69, 1}, {70, 1}, {71, 1}, {72, 1}, {73, 1}, {74, 1},
    {10, 1}, {75, 1}, {10, 1}, {76, 1}, {77, 1}, {10, 2}, {78, 1}, {79, 1}, {80, 1}, {10, 1},
    {81, 1}, {82, 1}, {83, 1}, {84, 1}, {85, 1}, {86, 1}, {87, 1}, {88, 1}, {10, 3}, {89, 1},
    {90, 2}, {91, 1}, {92, 1}, {93, 1}, {94, 1}, {95, 1}, {96, 1}, {97, 1}, {98, 1}, {99, 1},
    {100, 1}, {101, 1}, {102, 1}, {103, 1}, {104, 1}, {105, 1}, {106, 1}, {107, 1}, {108, 1},
    {109, 1}, {10, 5}, {110, 1}, {111, 1}, {10, 9}, {112, 1}, {10, 1}, {113, 1}, {10, 6},
    {114, 1}, {115, 1}, {10, 3}, {116, 1}, {10, 4}, {117, 1}, {118, 1}, {119, 1}, {120, 1},
    {10, 1}, {121, 1}, {10, 1}, {122, 1}, {123, 1}, {124, 1}, {10, 6}, {125, 1}, {126, 1},
    {127, 1}, {128, 1}, {10, 12}, {129, 103}, {10, 1}, {129, 328}, {10, 19}, {86, 1}, {10, 4},
    {130, 1}, {131, 1}, {132, 1}, {133, 1}, {134, 1}, {135, 1}, {136, 1}, {137, 1}, {138, 1},
    {139, 1}, {10, 1}, {140, 1}, {141, 1}, {142, 1}, {143, 1}, {144, 1}, {145, 1}, {146, 1},
    {147, 1}, {148, 1}, {10, 3}, {149, 1}, {150, 174}, {151, 1}, {10, 33}, {152, 100}, {153, 4},
    {154, 1}, {155, 1}, {153, 1}, {156, 1}, {157, 1}, {158, 1}, {10, 6}, {86, 1}, {10, 3},
    {159, 1}, {160, 1}, {10, 1}, {161, 1}, {162, 1}, {163, 1}, {10, 1}, {164, 1}, {10, 4},
    {124, 1}, {10, 2}, {165, 1}, {10, 3}, {166, 1}, {10, 1}, {167, 1}, {168, 1}, {169, 1},
    {170, 1}, {10, 1}, {171, 1}, {172, 1}, {10, 1}, {173, 1}, {174, 1}, {10, 10}, {175, 1},
    {10, 2}, {176, 1}, {10, 3}, {177, 1}, {178, 1}, {10, 1}, {179, 1}, {180, 1}, {10, 1},
    {181, 1}, {10, 3}, {182, 1}, {10, 2}, {183, 1}, {10, 10}, {184, 1}, {185, 1}, {186, 1},
    {187, 1}, {188, 1}, {189, 1}, {190, 1}, {191, 1}, {192, 1}, {10, 1}, {193, 1}, {194, 1},
    {195, 1}, {196, 1}, {10, 3}, {197, 1}, {198, 1}, {199, 1}, {10, 2}, {200, 1}, {201, 1},
    {202, 1}, {203, 1}, {204, 1}, {10, 1}, {205, 1}, {10, 5}, {64, 1}, {10, 13}, {206, 1},
    {10, 32}, {207, 1}, {10, 279}, {208, 1}, {10, 1}, {209, 1}, {210, 1}, {211, 1}, {10, 11},
    {212, 1}, {213, 1}, {10, 3}, {214, 1}, {10, 307}, {215, 1}, {10, 82}, {216, 1}, {217, 1},
    {218, 1}, {10, 1}, {219, 1}, {10, 30}, {220, 1}, {221, 1}, {222, 1}, {10, 21}, {223, 1},
    {10, 34}, {224, 1}, {225, 1}, {226, 1}, {10, 90}, {129, 667}, {227, 1}, {129, 68}, {227, 1},
    {10, 3}, {228, 1}, {129, 85}, {229, 1}, {10, 165}, {153, 8}, {230, 1}, {10, 11287},
    {231, 1}, {152, 1}, {10, 2}, {232, 3}, {233, 1}, {10, 1016}, {152, 1023}, {234, 1},
    {152, 1023}, {234, 1},
};

constexpr CharMapping kBertLowercase[] = {
    {0x41,0x61}, {0x100,0x101}, {0x130,0x69}, {0x130,0x307}, {0x132,0x133}, {0x178,0xff},
    {0x179,0x17a}, {0x181,0x253}, {0x182,0x183}, {0x186,0x254}, {0x187,0x188}, {0x189,0x256},
    {0x18b,0x18c}, {0x18e,0x1dd}, {0x18f,0x259}, {0x190,0x25b}, {0x191,0x192}, {0x193,0x260},
    {0x194,0x263}, {0x196,0x269}, {0x197,0x268}, {0x198,0x199}, {0x19c,0x26f}, {0x19d,0x272},
    {0x19f,0x275}, {0x1a0,0x1a1}, {0x1a6,0x280}, {0x1a7,0x1a8}, {0x1a9,0x283}, {0x1ac,0x1ad},
    {0x1ae,0x288}, {0x1af,0x1b0}, {0x1b1,0x28a}, {0x1b3,0x1b4}, {0x1b7,0x292}, {0x1b8,0x1b9},
    {0x1c4,0x1c6}, {0x1c5,0x1c6}, {0x1c7,0x1c9}, {0x1c8,0x1c9}, {0x1ca,0x1cc}, {0x1cb,0x1cc},
    {0x1f1,0x1f3}, {0x1f2,0x1f3}, {0x1f6,0x195}, {0x1f7,0x1bf}, {0x1f8,0x1f9}, {0x220,0x19e},
    {0x222,0x223}, {0x23a,0x2c65}, {0x23b,0x23c}, {0x23d,0x19a}, {0x23e,0x2c66}, {0x241,0x242},
    {0x243,0x180}, {0x244,0x289}, {0x245,0x28c}, {0x246,0x247}, {0x37f,0x3f3}, {0x386,0x3ac},
    {0x388,0x3ad}, {0x38c,0x3cc}, {0x38e,0x3cd}, {0x391,0x3b1}, {0x3cf,0x3d7}, {0x3d8,0x3d9},
    {0x3f4,0x3b8}, {0x3f7,0x3f8}, {0x3f9,0x3f2}, {0x3fa,0x3fb}, {0x3fd,0x37b}, {0x400,0x450},
    {0x410,0x430}, {0x460,0x461}, {0x4c0,0x4cf}, {0x4c1,0x4c2}, {0x531,0x561}, {0x10a0,0x2d00},
    {0x13a0,0xab70}, {0x13f0,0x13f8}, {0x1c89,0x1c8a}, {0x1c90,0x10d0}, {0x1e00,0x1e01},
    {0x1e9e,0xdf}, {0x1ea0,0x1ea1}, {0x1f08,0x1f00}, {0x1fba,0x1f70}, {0x1fbc,0x1fb3},
    {0x1fc8,0x1f72}, {0x1fcc,0x1fc3}, {0x1fd8,0x1fd0}, {0x1fda,0x1f76}, {0x1fe8,0x1fe0},
    {0x1fea,0x1f7a}, {0x1fec,0x1fe5}, {0x1ff8,0x1f78}, {0x1ffa,0x1f7c}, {0x1ffc,0x1ff3},
    {0x2126,0x3c9}, {0x212a,0x6b}, {0x212b,0xe5}, {0x2132,0x214e}, {0x2160,0x2170},
    {0x2183,0x2184}, {0x24b6,0x24d0}, {0x2c00,0x2c30}, {0x2c60,0x2c61}, {0x2c62,0x26b},
    {0x2c63,0x1d7d}, {0x2c64,0x27d}, {0x2c67,0x2c68}, {0x2c6d,0x251}, {0x2c6e,0x271},
    {0x2c6f,0x250}, {0x2c70,0x252}, {0x2c72,0x2c73}, {0x2c7e,0x23f}, {0x2c80,0x2c81},
    {0xa77d,0x1d79}, {0xa77e,0xa77f}, {0xa78d,0x265}, {0xa790,0xa791}, {0xa7aa,0x266},
    {0xa7ab,0x25c}, {0xa7ac,0x261}, {0xa7ad,0x26c}, {0xa7ae,0x26a}, {0xa7b0,0x29e},
    {0xa7b1,0x287}, {0xa7b2,0x29d}, {0xa7b3,0xab53}, {0xa7b4,0xa7b5}, {0xa7c4,0xa794},
    {0xa7c5,0x282}, {0xa7c6,0x1d8e}, {0xa7c7,0xa7c8}, {0xa7cb,0x264}, {0xa7cc,0xa7cd},
    {0xa7dc,0x19b}, {0xa7f5,0xa7f6}, {0xff21,0xff41}, {0x10400,0x10428}, {0x10570,0x10597},
    {0x10c80,0x10cc0}, {0x10d50,0x10d70}, {0x16ea0,0x16ebb}, {0x1e900,0x1e922},
};

}  // namespace spmcompat
