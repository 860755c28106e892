# pqnetsim plot: script of a figure, written anew by plot; without this line plot leaves the file alone
# Draws e2-loops-limit.png from the .dat beside it: run gnuplot on this file in its folder. Change it as you like.
reset
set encoding utf8
set terminal pngcairo noenhanced size 1440,900 font 'Sans,12' fontscale 1.5 pointscale 1.6 linewidth 2.2 background '#ffffff'
set output './e2-loops-limit.png'
set title 'What disturbs E2 control loops in a storm'."\n".'e2 on native, n = 2663 to 331707, 95% intervals'
set datafile separator "\t"
set border 3 lc rgb '#444444'
set tics nomirror out
set grid ytics lc rgb '#dddddd' lt 1 lw 0.5
set linetype 1 lc rgb '#0072B2' lw 1.4 pt 7 ps 0.7 dt 1
set linetype 2 lc rgb '#E69F00' lw 1.4 pt 5 ps 0.7 dt 1
set linetype 3 lc rgb '#009E73' lw 1.4 pt 9 ps 0.7 dt 1
set key outside right top vertical Left reverse samplen 2 spacing 1.15
set key title 'condition' left
set xlabel 'e2.nodes'
set ylabel 'deadline_miss mean'
set logscale x
set xrange [7.86896476:5083.26079]
set xtics ('' 8 1, '' 9 1, '10' 10, '' 20 1, '' 30 1, '' 40 1, '' 50 1, '' 60 1, '' 70 1, '' 80 1, '' 90 1, '100' 100, '' 200 1, '' 300 1, '' 400 1, '' 500 1, '' 600 1, '' 700 1, '' 800 1, '' 900 1, '1000' 1000, '' 2000 1, '' 3000 1, '' 4000 1, '' 5000 1)
set yrange [0:0.373012591]
plot './e2-loops-limit.dat' index 0 using 1:2 with linespoints lt 1 title 'kernel', \
     './e2-loops-limit.dat' index 0 using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lt 1 lw 0.8 dt 1 notitle, \
     './e2-loops-limit.dat' index 1 using 1:2 with linespoints lt 2 title 'user_space', \
     './e2-loops-limit.dat' index 1 using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lt 2 lw 0.8 dt 1 notitle, \
     './e2-loops-limit.dat' index 2 using 1:2 with linespoints lt 3 title 'nagle', \
     './e2-loops-limit.dat' index 2 using 1:3:(0):($4-$3) with vectors heads size screen 0.004,90 lt 3 lw 0.8 dt 1 notitle
set output
